// Drives the page of a cluster in a browser, for browser_test.go, which has the cluster and says where the page is:
//
//   node page.mjs <url> <folder of screenshots> <browser>

import { writeFileSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import { args, page, said, setOutage, ask, step, end, until, untilState, drawn, untilDrawn, state, screenshot, noViolations, theme } from "./drive.mjs";

const [url] = args;
const downloads = mkdtempSync(join(tmpdir(), "filch-cluster-"));
const hostile = "<img src=x onerror=document.title='gone'>";

// cells returns the texts of a table.
const cells = (id) => page.evaluate((id) => [...document.querySelectorAll(`#${id} tr`)].map((row) => [...row.cells].map((c) => c.textContent)), id);
const news = () => page.$eval("#news", (e) => e.innerText);
const untilNews = (text) => until((text) => document.getElementById("news").innerText.includes(text), text);
const untilNodes = (n) => until((n) => document.querySelectorAll("#nodes tbody tr").length === n, n);
const focused = () => page.evaluate(() => document.activeElement.id);

await end(async () => {
  await step("loads", async () => {
    await page.goto(url);
    await untilState("live");
    await until(() => document.querySelectorAll("#nodes tbody tr").length >= 3);
    assert.equal(await page.title(), "filch cluster filch");
  });
  await step("hostile names are text", async () => {
    await ask("haunt");
    await until((text) => document.getElementById("nodes").textContent.includes(text), hostile);
    await until((text) => document.getElementById("matrix").textContent.includes(text), hostile);
    assert.equal(await page.$eval("main", (e) => e.querySelectorAll("img, script").length), 0);
    assert.equal(await page.title(), "filch cluster filch");
  });
  await step("queues and steals", async () => {
    await until(() => document.querySelectorAll("#matrix tbody tr").length >= 2);
    const matrix = await cells("matrix"), of = Object.fromEntries(matrix.slice(1).map((row) => [row[0], row]));
    assert.ok(Number(of.b[matrix[0].indexOf("web")]) > 0, JSON.stringify(matrix));
    const queues = await cells("queues"), bad = queues.find((row) => row[0] === "reject");
    assert.ok(queues.some((row) => row[0] === "resize" && row[2] === "paused"), JSON.stringify(queues));
    assert.equal(bad[6], "3", JSON.stringify(queues));
    await untilNews("Handler resize is paused");
  });
  await step("keyboard", async () => {
    await page.keyboard.press("/");
    assert.equal(await focused(), "filter");
    await page.keyboard.type("WEB");
    await untilNodes(1);
    await page.keyboard.press("Escape");
    await until(() => document.querySelectorAll("#nodes tbody tr").length >= 4 && document.getElementById("filter").value === "");
    await page.keyboard.press("Space");
    assert.equal(await state(), "paused");
    await page.keyboard.press("Space");
    await untilState("live");
    await page.evaluate(() => document.activeElement.blur());
    const regions = new Set();
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      regions.add(await page.evaluate(() => document.activeElement.getAttribute("aria-labelledby") ?? document.activeElement.id));
    }
    for (const name of ["pause", "theme", "filter", "nodes-title", "queues-title", "steals-title"]) assert.ok(regions.has(name), `${name} is not in ${[...regions]}`);
    const was = await page.evaluate(() => document.documentElement.dataset.theme);
    await page.keyboard.press("t");
    await until((was) => document.documentElement.dataset.theme !== was, was);
  });
  await step("silence and leaving", async () => {
    await ask("leave c");
    await untilNews("Node c has left");
    await untilNews("Tasks of orphan normal wait, and no node has this handler.");
    await until(() => /Node ghost is (silent|lost): /.test(document.getElementById("news").innerText)); // lost, if all is slow
    assert.ok((await cells("nodes")).some((row) => row[0] === "ghost" && /^(silent for|lost) [0-9]/.test(row[1])));
  });
  await step("rates", async () => {
    await until(() => [...document.querySelectorAll("#nodes tbody tr")].some((row) => Number(row.cells[3].textContent) > 0));
    await until(() => document.querySelector("#done canvas") && document.querySelectorAll("#done-legend li").length >= 2 && document.querySelector("#waiting canvas"));
  });
  for (const name of ["light", "dark"]) {
    await step(name, async () => {
      await theme(name);
      await noViolations();
      await screenshot(name);
    });
  }
  await step("snapshot", async () => {
    const client = await page.createCDPSession();
    await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });
    await page.click("#pause");
    const was = [await cells("nodes"), await cells("queues"), await cells("matrix")];
    await page.click("#save");
    let file;
    for (let i = 0; i < 100 && !file; i++) {
      await new Promise((r) => setTimeout(r, 50));
      file = readdirSync(downloads).find((n) => n.endsWith(".json"));
    }
    const open = async (name, text) => {
      writeFileSync(join(downloads, name), text);
      await (await page.$("#file")).uploadFile(join(downloads, name));
    };
    const good = readFileSync(join(downloads, file), "utf8");
    await open("good.json", good);
    await until(() => document.getElementById("status").textContent === "file good.json");
    const now = [await cells("nodes"), await cells("queues"), await cells("matrix")];
    assert.deepEqual(now, was);
    const change = (f) => { const x = JSON.parse(good); f(x); return JSON.stringify(x); };
    const odd = {
      "odd-nodes": change((x) => { x.nodes = [null, 7, { name: {}, stats: "x", from: [[1]], opened: 9, seen: "x", rate: {} }, { name: "x", from: { __proto__: 5, a: 1e308 }, places: -1 }]; }),
      "odd-queues": change((x) => { x.queues = [null, { handler: 7, waiting: "x", oldest: 1e308, paused: 1 }]; x.dead = 7; }),
      "odd-series": change((x) => { x.series = { t: [1e308, null, "x"], done: [[7, 7], ["a", [1, 2, 3]], null], waiting: 5 }; x.wall = 1e308; x.ahead = {}; }),
    };
    for (const [name, text] of Object.entries(odd)) {
      const before = await drawn();
      await open(`${name}.json`, text);
      await until((name) => document.getElementById("status").textContent === `file ${name}.json`, name);
      await untilDrawn(before);
    }
    for (const text of ["", "null", "{}", change((x) => { x.format = "filch live snapshot 1"; }), change((x) => { x.series = 7; })]) {
      await open("refused.json", text);
      await until(() => document.getElementById("problem").textContent.startsWith("refused.json cannot be opened: "));
      await page.evaluate(() => { document.getElementById("problem").textContent = ""; });
    }
    await page.click("#pause");
    await untilState("live");
  });
  await step("cannot be reached", async () => {
    await ask("cut");
    await untilState("lost");
    await until(() => document.getElementById("unreached").textContent.startsWith("The cluster cannot be reached: the wire is cut. "));
    assert.ok((await cells("nodes")).length > 3, "what was known is gone");
    await noViolations();
    await ask("mend");
    await untilState("live");
    assert.equal(await page.$eval("#unreached", (e) => e.hidden), true);
  });
  await step("the page's server restarts", async () => {
    setOutage(true);
    await ask("restart");
    await untilState("live");
    const before = await drawn();
    await untilDrawn(before + 1);
    setOutage(false);
  });
  await step("fifty nodes", async () => {
    await ask("fifty");
    await until(() => document.querySelectorAll("#matrix tbody tr").length === 50);
    assert.equal((await cells("matrix"))[0].length, 1 + 50 + 1 + 1, "columns: 50, those of more, and all");
    await until(() => document.getElementById("done-legend").textContent.includes("others"));
    await screenshot("fifty");
  });
  await step("one node, and none", async () => {
    await ask("one");
    await until(() => document.querySelectorAll("#matrix tbody tr").length === 1);
    await ask("empty");
    await untilNews("There are no nodes.");
    assert.ok((await news()).includes("There are no queues"));
    await noViolations();
  });
  await step("phone", async () => {
    await ask("fifty");
    await page.setViewport({ width: 390, height: 844, deviceScaleFactor: 2, isMobile: true, hasTouch: true }); // that loads it anew
    await until(() => document.querySelectorAll("#matrix tbody tr").length === 50);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is wider than the phone");
    await screenshot("phone");
  });
  await step("console", () => assert.deepEqual(said, []));
}, () => rmSync(downloads, { recursive: true, force: true }));
