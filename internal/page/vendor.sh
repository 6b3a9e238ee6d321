#!/bin/sh
# Fetches the chart library of the pages by npm: one version, with its licence. It refuses what does not
# have the checksum. Run it after a change of the version; the result is in the repository.
set -eu
cd "$(dirname "$0")/files"

version=1.6.32
sum=2883159c6ebccefbb95d751b0b82d010f9e1c0ec41b8bc96d401eda66e882935c89a46cb824332fa369b8cb8122cc6ac36e186cd09bf7a9ded3a4c93c6989023

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
npm pack --silent --pack-destination "$tmp" "uplot@$version" >/dev/null
echo "$sum  $tmp/uplot-$version.tgz" | sha512sum -c --quiet
tar -xzf "$tmp/uplot-$version.tgz" -C "$tmp"
cp "$tmp/package/dist/uPlot.iife.min.js" uplot.js
cp "$tmp/package/dist/uPlot.min.css" uplot.css
cp "$tmp/package/LICENSE" uplot.LICENSE.txt
