// Renders pictures by Chromium, in both themes, and by resvg, for render_test.go:
//
//   node page.mjs <the pictures, in JSON> <folder of PNG files> <browser>
//
// A file is <number of the picture>-<renderer>.png.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Resvg } from "@resvg/resvg-js";
import { args, shots, page, step, end } from "./drive.mjs";

const WIDTH = 760;
const pictures = JSON.parse(args[0]);

await end(async () => {
  await step("resvg", () => {
    pictures.forEach((file, i) => {
      const drawn = new Resvg(readFileSync(file, "utf8"), { background: "white", fitTo: { mode: "width", value: WIDTH } });
      writeFileSync(join(shots, `${i}-resvg.png`), drawn.render().asPng());
    });
  });
  await step("chromium", async () => {
    for (const theme of ["light", "dark"]) {
      await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: theme }, { name: "prefers-reduced-motion", value: "reduce" }]);
      for (const [i, file] of pictures.entries()) {
        const text = readFileSync(file, "utf8"), moves = text.includes("@keyframes"); // in the page it heeds that the reader wants no motion
        const shown = moves ? text : `<img src="data:image/svg+xml;base64,${Buffer.from(text).toString("base64")}">`;
        await page.setContent(`<body style="margin:0"><style>body > svg, body > img { display: block; width: ${WIDTH}px; height: auto; }</style>${shown}`);
        await (await page.$("body > svg, body > img")).screenshot({ path: join(shots, `${i}-${theme}.png`) });
      }
    }
  });
});
