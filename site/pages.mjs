// Writes the pages of the site into the folder pages, from the Markdown of the repository: links between pages stay links between
// pages, those to code lead to the repository, and pictures come along.

import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, normalize, posix } from "node:path";
import { fileURLToPath } from "node:url";
import { contents } from "./contents.mjs";

const site = dirname(fileURLToPath(import.meta.url)), root = dirname(site), out = join(site, "pages");
const code = "https://github.com/filch-go/filch";
const names = new Map(contents.flatMap(([, pages]) => pages.filter(([file]) => file).map(([file, name]) => [file, name])));

// target returns where a link of a page leads, which the file has relative to its folder.
function target(file, link, isPicture) {
  if (/^[a-z]+:|^[#/]/.test(link)) return link;
  const [path, anchor] = link.split("#"), to = normalize(join(dirname(file), path)).replace(/\/$/, "");
  if (!existsSync(join(root, to))) throw new Error(`${file}: ${link}: there is no such file`);
  if (isPicture) return `/${picture(to)}`;
  const name = names.get(to) ?? names.get(posix.join(to, "README.md"));
  const hash = anchor ? `#${anchor}` : "";
  if (name) return `/${name}.md${hash}`;
  return `${code}/${statSync(join(root, to)).isDirectory() ? "tree" : "blob"}/main/${to === "." ? "" : to}${hash}`;
}

// picture copies a picture to where the site has it.
function picture(file) {
  const to = file.replace(/^docs\//, "");
  cpSync(join(root, file), join(out, "public", to));
  return to;
}

// outside returns text as f changes it, but for the code in it.
function outside(text, f) {
  const code = [];
  const rest = text.replace(/^```[^]*?^```|^(?: {4}|\t).*$|`[^`\n]*`/gm, (c) => `\0${code.push(c) - 1}\0`);
  return f(rest).replace(/\0(\d+)\0/g, (_, i) => code[i]);
}

function transformed(file, text) {
  text = outside(text, (part) => part
    .replace(/(!?)(\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)/g, (_, mark, label, link) => `${mark}${label}(${target(file, link, mark === "!")})`)
    .replace(/<picture>[^]*?srcset="([^"]+)"[^]*?src="([^"]+)" alt="([^"]*)"[^]*?<\/picture>/g, (_, dark, light, alt) =>
      [["light", light], ["dark", dark]].map(([theme, src]) => `<img class="only-${theme}" src="${target(file, src, true)}" alt="${alt}">`).join("\n")));
  // A link in a label, as of a picture that is a link, has been replaced already; what is left between < and > is text.
  return outside(text, (part) => part.replace(/<(?=[a-zA-Z]+ ?[^>]*>)(?!\/?(?:details|summary|img|br|iframe|a|kbd|b|code|sup|sub)\b)/g, "&lt;"));
}

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "public"), { recursive: true });
for (const [file, name] of names) {
  const text = readFileSync(join(root, file), "utf8");
  writeFileSync(join(out, `${name}.md`), `---\nsource: ${file}\n---\n\n${transformed(file, text)}`);
}
cpSync(join(root, "docs/playground"), join(out, "public/playground"), { recursive: true });
for (const folder of ["summary", "tasks"]) for (const name of readdirSync(join(root, "docs/pictures", folder))) picture(`docs/pictures/${folder}/${name}`);
