// What the scripts of tests have: a page in Chromium, steps, and questions about what is shown. The last arguments of a script are a
// folder for screenshots and the browser; args are those before.

import { readFileSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { join } from "node:path";
import assert from "node:assert/strict";
import puppeteer from "puppeteer-core";

export const args = process.argv.slice(2, -2);
export const [shots, chromium] = process.argv.slice(-2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
mkdirSync(shots, { recursive: true });

// ask makes the server do something.
export async function ask(what) {
  console.log(`ask ${what}`);
  assert.equal((await input.next()).value, `done ${what}`);
}

const browser = await puppeteer.launch({ executablePath: chromium, headless: true, pipe: true, timeout: 120_000, protocolTimeout: 120_000,
  args: ["--no-sandbox", "--disable-gpu", "--disable-extensions", "--no-first-run", "--disable-background-networking", "--js-flags=--expose-gc", "--enable-precise-memory-info"],
});
export const page = await browser.newPage();
page.setDefaultTimeout(60_000); // a busy machine is slow

// said is what the page has put on the console. In an outage the browser itself complains of a server that is gone.
export const said = [];
let outage = false;
export const setOutage = (on) => { outage = on; };
page.on("console", (m) => { if (!outage || !m.text().includes("net::ERR_")) said.push(`${m.type()}: ${m.text()}`); });
page.on("pageerror", (e) => said.push(`error: ${e.message}`));
await page.setViewport({ width: 1280, height: 1000 });
await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);

export async function step(name, f) {
  const begin = Date.now();
  try {
    await f();
  } catch (e) {
    await page.screenshot({ path: join(shots, "failed.png") }).catch(() => {});
    console.log(`fail ${name}: ${e.stack} ${said.join("; ")}`.replaceAll("\n", " | "));
    process.exitCode = 1;
    throw e;
  }
  console.log(`pass ${name} (${Date.now() - begin} ms)`);
}

// end runs the steps, and ends the script.
export async function end(steps, after = () => {}) {
  try {
    await steps();
  } catch (e) {
    process.exitCode = 1; // step has told of it
  } finally {
    await browser.close();
    after();
    process.exit();
  }
}

// until asks until f is true in the page. As long as f throws, it is not true yet: what it asks about may be on its way.
export async function until(f, ...args) {
  const end = Date.now() + 60_000;
  for (;;) {
    let problem = "not true";
    try {
      if (await page.evaluate(f, ...args)) return;
    } catch (e) {
      problem = e;
    }
    if (Date.now() > end) throw new Error(`after 60 s: ${f}`, { cause: problem });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
export const untilState = (state) => until((state) => document.getElementById("status").dataset.state === state, state);
export const drawn = () => page.evaluate(() => Number(document.documentElement.dataset.drawn ?? 0));
export const untilDrawn = (n) => until((n) => Number(document.documentElement.dataset.drawn) > n, n);
export const state = () => page.$eval("#status", (e) => e.dataset.state);
export const screenshot = (name) => page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });

// noViolations asks axe, whose rules are those of Lighthouse too: a page without violations has the score 100.
export async function noViolations(of = ["serious", "critical"]) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run());
  const bad = violations.filter((v) => of.includes(v.impact));
  assert.deepEqual(bad.map((v) => `${v.id}: ${v.nodes.map((n) => n.html).slice(0, 2).join(" ")}`), []);
}

// theme chooses a theme, and waits until all is drawn in it.
export async function theme(name) {
  const before = await drawn();
  if (await page.evaluate(() => document.documentElement.dataset.theme) === name) return;
  await page.click("#theme");
  await untilDrawn(before);
}
