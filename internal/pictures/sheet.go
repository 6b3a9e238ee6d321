package main

import (
	"encoding/base64"
	"fmt"
	"html"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// writeSheet writes a page that shows all pictures of the documents: on the left on a light ground, on the right on a dark one.
func writeSheet(dir, file string) error {
	names, err := svgFiles(filepath.Join(dir, "docs", "pictures"))
	if err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString(`<!doctype html><html lang="en"><meta charset="utf-8"><title>The pictures of filch</title>
<style>body{margin:0;font:13px sans-serif}div{display:grid;grid-template-columns:1fr 1fr}p{grid-column:1/3;margin:0;padding:6px 12px;background:#8884}
img{width:100%;box-sizing:border-box;padding:12px}.light{color-scheme:light;background:#fff}.dark{color-scheme:dark;background:#0d1117}</style><div>
`)
	for _, name := range names {
		picture, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(filepath.ToSlash(name)))
		for _, theme := range []string{"light", "dark"} {
			fmt.Fprintf(&b, "<img class=%s alt=\"\" src=\"data:image/svg+xml;base64,%s\">\n", theme, base64.StdEncoding.EncodeToString(picture))
		}
	}
	return os.WriteFile(file, []byte(b.String()+"</div></html>\n"), 0o666)
}

// svgFiles returns the SVG files below a folder.
func svgFiles(dir string) (names []string, err error) {
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if filepath.Ext(path) == ".svg" {
			names = append(names, path)
		}
		return err
	})
	return names, err
}
