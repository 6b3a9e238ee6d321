// Drives the site in a browser, for site_test.go, which serves it:
//
//   node page.mjs <url> <pages, with commas> <folder of screenshots> <browser>

import assert from "node:assert/strict";
import { args, page, said, step, end, until, screenshot, noViolations } from "./drive.mjs";

const [url, names] = args;
const foreign = [];
page.on("request", (r) => { if (!r.url().startsWith(url) && !r.url().startsWith("data:") && !r.url().startsWith("blob:")) foreign.push(r.url()); });
const theme = (name) => page.evaluate((name) => {
  document.documentElement.classList.toggle("dark", name === "dark");
  return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}, name);

await end(async () => {
  for (const name of names.split(",")) {
    await step(name, async () => {
      await page.setViewport({ width: 360, height: 800 });
      await page.goto(new URL(name, url), { waitUntil: "load" });
      await until(() => document.querySelector(".vp-doc h1"));
      await page.addStyleTag({ content: "* { transition: none !important; }" }); // colours are judged as they stay
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is wider than a phone");
      await page.setViewport({ width: 1280, height: 900 });
      for (const kind of ["light", "dark"]) {
        await theme(kind);
        await noViolations(["serious", "critical", "moderate"]);
        if (["index.html", "stealing.html", "benchmarks.html", "choosing.html", "playground.html", "live.html"].includes(name)) await screenshot(`${name.replace(".html", "")}-${kind}`);
      }
    });
  }
  await step("search", async () => {
    await page.goto(url);
    await page.click(".DocSearch-Button, .VPNavBarSearchButton, #local-search button");
    await page.waitForSelector("#localsearch-input");
    await page.type("#localsearch-input", "deadlock");
    await until(() => document.querySelectorAll("#localsearch-list .result").length > 2);
    await screenshot("search");
  });
  await step("sidebar", async () => {
    await page.goto(url);
    const texts = await page.$$eval(".VPSidebarItem .text", (all) => all.map((e) => e.textContent));
    const groups = ["Start in five minutes", "Choose", "Recursion", "Tasks", "Loops", "Graphs", "Services", "Several machines", "See what it does", "When it is stuck",
      "Mistakes", "Theory", "Performance", "Migrating", "Benchmarks", "Internals", "Reference"];
    assert.deepEqual(texts.filter((t) => groups.includes(t)).filter((t, i, all) => all.indexOf(t) === i), groups);
  });
  await step("playground", async () => {
    await page.goto(new URL("playground.html", url));
    const frame = await (await page.waitForSelector("iframe")).contentFrame();
    await frame.waitForFunction(() => document.querySelectorAll("#panels canvas").length > 0 && /^step \d/.test(document.getElementById("step").textContent.trim()));
  });
  await step("nothing from elsewhere", () => assert.deepEqual(foreign, []));
  await step("console", () => assert.deepEqual(said.filter((m) => !m.startsWith("debug")), []));
});
