import { readFileSync } from "node:fs";
import { defineConfig } from "vitepress";
import { contents } from "../contents.mjs";

// title returns the first heading of a file.
const title = (file) => readFileSync(new URL(`../../${file}`, import.meta.url), "utf8").match(/^# (.*)$/m)[1].replaceAll("`", "");

// slug is that of GitHub, so that links to headings are the same there and here.
const slug = (heading) => heading.trim().toLowerCase().replace(/[^\p{L}\p{N}_\- ]/gu, "").replaceAll(" ", "-");

const item = ([file, name, heading]) => ({ text: heading ?? title(file), link: name === "index" ? "/" : `/${name}` });

export default defineConfig({
  title: "filch",
  titleTemplate: ":title · filch",
  description: "Work stealing for Go",
  lang: "en",
  base: "/filch/",
  srcDir: "pages",
  ignoreDeadLinks: "localhostLinks",
  head: [["link", { rel: "icon", href: "/filch/playground/icon.svg" }]],
  markdown: {
    // Code that is wider than the screen can be moved by the keyboard, also where it is indented instead of fenced.
    config(md) { md.renderer.rules.code_block = (tokens, i) => `<pre tabindex="0"><code v-pre>${md.utils.escapeHtml(tokens[i].content)}</code></pre>\n`; },
    anchor: { slugify: slug }, toc: { slugify: slug }, theme: { light: "github-light-high-contrast", dark: "github-dark-high-contrast" },
  },
  themeConfig: {
    search: { provider: "local" },
    outline: { level: [2, 3] },
    sidebar: contents.map(([text, pages]) => (pages.length === 1 ? { text, link: `/${pages[0][1]}` } : { text, items: pages.map(item) })),
    nav: [{ text: "Start", link: "/" }, { text: "Choose", link: "/programs" }, { text: "Reference", link: "/reference" }, { text: "Code", link: "https://github.com/filch-go/filch" }],
    editLink: { pattern: ({ frontmatter }) => `https://github.com/filch-go/filch/blob/main/${frontmatter.source}`, text: "This page in the repository" },
  },
});
