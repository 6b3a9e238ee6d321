// Drives the page in a browser, for browser_test.go, which has the server and says where it is:
//
//   node page.mjs <url> <url with a token> <token> <examples/broken, compiled> <JSON> <whole> <folder of screenshots> <browser>
//
// The JSON has for each program of examples/broken what its page must say.
// Unless it is "true" that it runs whole, it opens the pages of two of them, at once, and looks at one width.
// It writes what it wants of the server as a line, and reads a line when that is done.

import { writeFileSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";
import { args, shots, page, said, setOutage, ask, step, end, until, untilState, drawn, untilDrawn, state, screenshot, noViolations, theme } from "./drive.mjs";

const [url, guarded, token, broken, says, whole] = args, all = whole === "true";
const downloads = mkdtempSync(join(tmpdir(), "filch-live-"));
// colours returns how many colours a canvas has, up to a hundred.
const colours = (id) => page.evaluate((id) => {
  const c = document.getElementById(id), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
  for (let i = 0; i < d.length && seen.size < 100; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
  return seen.size;
}, id);
const hash = (id) => page.evaluate((id) => {
  const c = document.getElementById(id), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
  let h = 0;
  for (let i = 0; i < d.length; i++) h = (h * 31 + d[i]) | 0;
  return h;
}, id);
const store = (f, ...args) => page.evaluate(`import("./app.js").then((m) => (${f})(m.store, m.lanes, ...${JSON.stringify(args)}))`);

// The broken programs get stuck now; their pages are opened 20 s later.
const stuck = Object.fromEntries(Object.keys(JSON.parse(says)).filter((name) => all || name === "circle" || name === "channel").map((name) => [name, spawn(broken, ["-page", name], { stdio: ["ignore", "pipe", "inherit"] })]));
const begun = Date.now();

// inWidths looks at the page in some widths and both themes, and leaves it as wide as it is else.
async function inWidths(widths, name) {
  for (const width of widths) {
    await page.setViewport({ width, height: 1000 });
    await new Promise((r) => setTimeout(r, 300));
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `it is wider than ${width}`);
    for (const kind of ["light", "dark"]) {
      await theme(kind);
      await noViolations();
      await screenshot(`${name}-${width}-${kind}`);
    }
  }
  await page.setViewport({ width: 1280, height: 1000 });
}

await end(async () => {
  await step("loads", async () => {
    await page.goto(url);
    await untilState("live");
  });
  await step("draws", async () => {
    await until(() => Number(document.documentElement.dataset.drawn) > 8);
    assert.ok(await colours("lanes") > 5, "the lanes are blank");
    assert.ok(await store("(s) => s.spans.length") > 20, "there are no spans");
    assert.equal(await page.$eval("#tiles", (e) => e.children.length), 6);
    await until(() => /busy|idle/.test(document.querySelector("#verdict strong").textContent) && ["busy", "slow", "idle"].includes(document.getElementById("verdict").dataset.kind));
    await until(() => document.querySelectorAll("#times tbody tr").length > 0);
    await until(() => document.querySelectorAll("#runs tbody tr").length > 0);
    assert.ok(await page.$("#through canvas") && await page.$("#queues canvas"));
  });
  await step("updates", async () => {
    const before = await drawn(), picture = await hash("lanes");
    await until((n) => Number(document.documentElement.dataset.drawn) > n + 3, before);
    assert.notEqual(await hash("lanes"), picture);
  });
  await step("filters", async () => {
    await page.type("#filter", "leaf");
    await until(() => [...document.querySelectorAll("#times tbody tr td:first-child")].every((td) => td.textContent.includes("leaf")) && document.querySelectorAll("#times tbody tr").length > 0);
    await page.keyboard.press("Escape");
    assert.equal(await page.$eval("#filter", (e) => e.value), "");
  });
  await step("hover", async () => {
    await page.keyboard.press("Space");
    const at = await store(`(s, l) => {
      const r = s.spans, y = l.canvas.getBoundingClientRect();
      for (let i = r.length - 1; i >= 0; i--) { const k = r.row(i); if (r.worker[k] >= 0 && l.x(r.begin[k]) > l.gutter + 20 && l.x(r.begin[k]) < l.w - 20) return [y.x + l.x((r.begin[k] + r.end[k]) / 2), y.y + l.y(r.worker[k]) + l.lane / 2]; }
    }`);
    await page.mouse.move(at[0], at[1]);
    await until(() => !document.getElementById("tip").hidden && /worker \d+, [\d.]+ (ns|µs|ms|s)/.test(document.getElementById("tip").textContent));
    await page.mouse.move(2, 2);
    await page.keyboard.press("Space");
  });
  await step("accessible", noViolations);
  await step("explains", async () => {
    await page.keyboard.press("?");
    assert.ok(await page.$$eval(".what", (all) => all.length >= 6 && all.every((e) => e.offsetHeight > 0)), "what is explained is not shown");
    await page.click("#verdict summary");
    assert.ok(await page.$eval("#verdict ul", (e) => e.offsetHeight > 0 && e.children.length > 0), "there is no reason");
    await page.click("#more summary");
    await inWidths(all ? [360, 768, 1280, 1920] : [360], "explained");
    await page.keyboard.press("?");
    assert.ok(await page.$$eval(".what", (all) => all.every((e) => e.offsetHeight === 0)));
    await page.click("#verdict summary");
    await page.click("#more summary");
  });
  await step("screenshots", async () => {
    await theme("light");
    await screenshot("light");
    await theme("dark");
    await noViolations();
    await screenshot("dark");
  });
  await step("keyboard", async () => {
    for (let i = 0; i < 20 && await page.evaluate(() => document.activeElement.id) !== "lanes"; i++) await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "lanes");
    await until(() => import("./app.js").then(({ store, lanes }) => { // worker 1 may have had nothing to do until now; below, the window moves to the left
      const r = store.spans;
      for (let i = 0; i < r.length; i++) if (r.worker[i] === 1 && r.begin[i] < store.t - 1e9 && lanes.look(r.sort[i]) === "body") return true;
      return false;
    }));
    await page.keyboard.press("Space");
    assert.equal(await state(), "paused");
    const before = await store("(s, l) => [l.width, l.right, s.t]");
    await page.keyboard.press("+");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("[");
    await until(() => document.getElementById("chosen").textContent.includes("worker 1"));
    await new Promise((r) => setTimeout(r, 500));
    const after = await store("(s, l) => [l.width, l.right, s.t, l.chosen]");
    assert.ok(after[0] < before[0] && after[1] < before[1] && after[2] === before[2] && after[3] === 1, `${before} ${after}`);
    const whole = await drawn();
    await page.keyboard.press("/");
    await page.keyboard.press("Escape"); // all is drawn, and the tables again after a second
    await until((n) => Number(document.documentElement.dataset.drawn) > n, whole);
    await page.keyboard.press("-");
    await page.keyboard.press("-");
    await until(() => Promise.all(["app", "tables", "text"].map((m) => import(`./${m}.js`))).then(([{ store, lanes }, { byName }, { count }]) => {
      const runs = [...document.querySelectorAll("#times tbody tr")].map((row) => row.cells[1].textContent);
      return runs.join() === byName(store, lanes).slice(0, 40).map((x) => count(x.n)).join(); // the table is of what is shown now
    }));
    await page.keyboard.press("0");
    await page.keyboard.press("Space");
    assert.equal(await state(), "live");
    await page.keyboard.press("/");
    assert.equal(await page.evaluate(() => document.activeElement.id), "filter");
    await page.keyboard.press("Escape");
  });
  await step("snapshot", async () => {
    const client = await page.createCDPSession();
    await client.send("Browser.setDownloadBehavior", { behavior: "allow", downloadPath: downloads });
    await page.click("#pause");
    const was = await store("(s) => [s.spans.length, s.arrows.length, s.t, s.names.length]");
    await page.click("#save");
    let file;
    for (let i = 0; i < 100 && !file; i++) {
      await new Promise((r) => setTimeout(r, 50));
      file = readdirSync(downloads).find((n) => n.endsWith(".json"));
    }
    await page.click("#pause");
    await (await page.$("#file")).uploadFile(join(downloads, file));
    await until((f) => document.getElementById("status").textContent.includes(f), file);
    assert.deepEqual(await store("(s) => [s.spans.length, s.arrows.length, s.t, s.names.length]"), was);
    await until(() => document.querySelectorAll("#times tbody tr").length > 0);
    await page.click("#pause");
    await untilState("live");
  });
  if (all) await step("hostile files", async () => {
    await until(() => import("./app.js").then((m) => m.store.look && m.store.spans.length > 20 && m.store.series.t.length > 2));
    const good = await store("(s) => s.snapshot()"), change = (f) => { const x = structuredClone(good); f(x); return JSON.stringify(x); };
    const many = (n, x) => Array.from({ length: n }, () => x);
    const files = { // those that are opened, by name
      "no figures": change((x) => { x.stats = { Tasks: {} }; }), "figures of text": change((x) => { x.stats.Busy = x.stats.Tasks.Queued = "<b>"; x.stats.Searching = [[]]; x.stats.Tasks.Oldest = {}; }),
      "names that are not there": change((x) => { x.names = ["a"]; x.spans = x.spans.map((v, i) => (i % 7 === 3 ? 60000 : v)); x.open = [{ name: 9, depth: "x" }, null, 7]; }),
      "sorts that are not there": change((x) => { x.spans = x.spans.map((v, i) => (i % 7 === 4 ? 77 : v)); x.sorts = many(100000, "task"); }),
      "times without end": change((x) => { x.t = 1e300; x.wall = 1e300; x.spans[0] = 1e308; x.spans[1] = -1e308; x.gaps = [1e300, -1e300, 0]; }),
      "times before the program": change((x) => { x.t = -1e18; }), "no spans": change((x) => { x.spans = []; x.workers = -5; x.open = 7; }),
      "half a worker": change((x) => { x.workers = 1.3; }), "many workers": change((x) => { x.workers = 1e12; }), "workers of nobody": change((x) => { x.spans = x.spans.map((v, i) => (i % 7 === 2 ? -30000 : v)); }),
      "nothing looked at": change((x) => { x.look = { workers: [null, 5, {}, { worker: [], task: {}, for: "x", doing: 7, queued: "x" }], long: [null, {}], held: [null, {}], waits: [null, {}], circles: [null, {}], more: {} }; }),
      "a look of text": change((x) => { x.look = "x"; }), "many pools": change((x) => { x.pools = many(1e6, "p"); x.pool = 1e9; }),
      "series of all lengths": change((x) => { x.series = { t: [1, null, 3], done: [1e308, "x"], forks: 7, steals: [[]] }; }),
      "odd pairs": change((x) => { x.steals = [[1e12, 5], [null, null], ["a", {}]]; x.queues = [[0, 1e308], [{}, []]]; x.marks = [1e308, -9, 60000]; x.arrows = [1e308, -1e308, -7, 7, 1]; }),
      "markup": change((x) => { x.names = x.names.map(() => "<img src=x onerror=alert(1)>"); x.look = { workers: [{ worker: 1, task: "<script>alert(1)</script>" }] }; x.pools = ["</option><script>alert(1)</script>"]; }),
    };
    const refused = {
      "nothing": "", "no JSON": "{", "too deep": "[".repeat(1e6), "another format": JSON.stringify({ format: "x" }), "null": "null", "bytes": "\u0000\u00ff",
      "no lists": change((x) => { x.names = 7; }), "pairs of nothing": change((x) => { x.steals = [7, null]; }),
    };
    const open = async (name, text) => {
      const path = join(downloads, `${name}.json`);
      writeFileSync(path, text);
      await (await page.$("#file")).uploadFile(path);
    };
    for (const [name, text] of Object.entries(files)) {
      await open(name, text);
      await until((name) => document.getElementById("status").textContent.includes(name), name);
      const before = await drawn();
      await store("(s, l) => import('./app.js').then((m) => { m.draw(performance.now() + 1e6); l.zoom(1e-9); l.draw(); l.zoom(1e9); l.draw(); l.follow(); l.under(l.w / 2, 40); l.width = 5e9; })");
      await page.keyboard.press("[");
      await until((n) => Number(document.documentElement.dataset.drawn) > n, before);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 20), `${name}: the page is wide`);
    }
    for (const [name, text] of Object.entries(refused)) {
      await open(name, text);
      await until((name) => document.getElementById("problem").textContent.startsWith(`${name}.json cannot be opened: `), name);
      assert.ok(await page.$eval("#status", (e) => e.textContent.includes("markup")), "the file before is gone");
    }
    assert.deepEqual(said.filter((m) => m.startsWith("error")), []);
    await page.click("#pause");
    await until(() => document.getElementById("status").dataset.state === "live" && document.getElementById("problem").hidden);
  });
  await step("restart", async () => {
    setOutage(true);
    await ask("restart");
    await untilState("live");
    const before = await drawn();
    await until((n) => Number(document.documentElement.dataset.drawn) > n + 3, before);
    setOutage(false);
  });
  await step("64 workers", async () => {
    await page.select("#pool", "1");
    await page.evaluate(() => import("./app.js").then((m) => { m.lanes.width = 1e9; }));
    await until(() => import("./app.js").then((m) => m.store.workers >= 64 && m.store.spans.length > 3000));
    assert.ok(await store("(s, l) => l.shown.length + l.idle") >= 64);
    await page.keyboard.press("f");
    await until(() => import("./app.js").then(({ lanes }) => !lanes.idle && lanes.shown.length >= 64));
    await page.keyboard.press("f");
    await inWidths(all ? [360, 768, 1280, 1920] : [1280], "64");
  });
  await step("phone", async () => {
    const filled = () => until(() => document.querySelectorAll("#times tbody tr").length > 0 && document.querySelectorAll("#steals-text:not(:empty)").length > 0);
    await page.setViewport({ width: 390, height: 844, deviceScaleFactor: 2, isMobile: true, hasTouch: true }); // that loads it anew
    await filled();
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is wider than the phone");
    await noViolations();
    await screenshot("phone-dark");
    await theme("light");
    await page.select("#pool", "1");
    await until(() => import("./app.js").then((m) => m.store.workers >= 64 && m.store.spans.length > 500));
    await new Promise((r) => setTimeout(r, 1000)); // until the tables show it
    await screenshot("phone-light");
    await page.setViewport({ width: 1280, height: 1000 });
  });
  if (all) await step("an hour", async () => {
    await ask("quiet"); // what is measured has the machine for itself
    const grown = await page.evaluate(async () => {
      const m = await import("./app.js"), W = 64, t0 = 1e15;
      const feed = (k) => { // a fifth of a second of 64 workers
        const t = t0 + k * 2e8, spans = [], arrows = [], names = Array.from({ length: 20 }, (_, i) => `work ${i + k % 500}`);
        for (let w = 0; w < W; w++) for (let i = 0; i < 4; i++) spans.push(2, w, 2e8 - i * 5e7, 2e7 + (w * i * 7919) % 9e6, (w + i) % 20, 1, 0);
        for (let i = 0; i < 30; i++) arrows.push(i, (i * 7 + k) % W, 1e8, 9e7, 1);
        const Tasks = { Done: k * 512, Queued: k % 40, Running: 64, Held: 0, Failed: 0, Panicked: 0, Stolen: 0, Oldest: 1e6 };
        m.receive("part", { t, wall: 1.7e12 + k * 200, workers: W, read: 600, lost: 3, names, spans, open: [], arrows, steals: [k % W, 3, 1], marks: [], queues: [0, k % 9], gaps: [],
          stats: { Workers: W, Busy: W, Searching: 0, Blocked: 0, Extra: 0, Published: k * 90, Steals: k * 30, Tasks } });
      };
      const heap = () => { gc(); return performance.memory.usedJSHeapSize; };
      let k = 0;
      for (; k < 300; k++) feed(k); // a minute
      m.draw(1e9);
      const before = heap();
      for (; k < 18000; k++) {
        feed(k);
        if (k % 100 === 0) m.draw(1e9 + k * 200);
      }
      const grown = heap() - before, frames = [];
      for (let i = 0; i < 41; i++, k++) {
        feed(k);
        const begin = performance.now();
        m.lanes.draw();
        frames.push(performance.now() - begin);
      }
      frames.sort((a, b) => a - b);
      let calls = 0; // of the canvas, in a frame
      const c = m.lanes.ctx;
      for (const name of ["fillRect", "strokeRect", "fillText", "moveTo", "lineTo", "stroke"]) c[name] = (...all) => { calls++; Object.getPrototypeOf(c)[name].apply(c, all); };
      m.lanes.draw();
      for (const name of Object.keys(c)) delete c[name];
      return { grown, all: heap(), calls, "median frame, ms": frames[20], "slowest": frames[40], names: m.store.names.length, spans: m.store.spans.length };
    });
    console.log(`note ${JSON.stringify(grown)}`);
    assert.ok(grown.grown < 5e7 && grown.all < 5e7, "the heap has grown");
    assert.ok(grown.calls > 1000 && grown.calls < 20_000, "a frame draws too much"); // in five seconds there are 6,400 spans
  });
  await step("token", async () => {
    setOutage(true); // the browser tells of the 401 that leads to the form
    await page.goto(guarded);
    await until(() => !document.getElementById("token").hidden);
    assert.equal(await page.$eval("#lanes", (c) => getComputedStyle(c).visibility), "hidden", "lanes without data are a black box");
    await page.type("#secret", "wrong and long enough");
    await page.keyboard.press("Enter");
    await until(() => document.getElementById("refused").textContent.includes("not the token"));
    await noViolations();
    said.length = 0;
    setOutage(false);
    await page.goto("about:blank");
    await page.goto(`${guarded}#token=${token}`);
    await untilState("live");
    assert.ok(!(await page.url()).includes(token), "the token is in the history");
    assert.equal(await page.evaluate(() => document.cookie), "");
  });
  await step("proxy", async () => { // it asks by another Host
    await page.goto(new URL("/proxied/", url));
    await until(() => document.getElementById("status").dataset.state === "live" && document.documentElement.dataset.drawn > 0);
    assert.equal(await page.$eval("#lanes", (c) => getComputedStyle(c).visibility), "visible");
  });
  await step("broken programs", async () => {
    setOutage(true); // each ends before its page does
    if (all) await new Promise((r) => setTimeout(r, begun + 20_000 - Date.now()));
    for (const [name, program] of Object.entries(stuck)) {
      const texts = JSON.parse(says)[name];
      try {
        await page.goto((await createInterface({ input: program.stdout })[Symbol.asyncIterator]().next()).value);
        await until((texts) => import("./app.js").then(({ store, lanes }) => {
          const tiles = [...document.querySelectorAll("#tiles div")].map((d) => `${d.children[1].textContent} ${d.children[0].textContent}`);
          const open = store.going().map((s) => lanes.tell({ ...s, end: store.t, open: true }));
          const text = [document.querySelector("#verdict strong").textContent, ...tiles, ...open, document.getElementById("waits").innerText, document.getElementById("runs").innerText].join("\n");
          return texts.every((t) => text.includes(t));
        }), texts);
        for (const kind of all ? ["dark", "light"] : ["light"]) {
          await theme(kind);
          await noViolations();
          await screenshot(`broken-${name}-${kind}`);
        }
      } catch (e) {
        throw new Error(`the page of ${name} does not say all of ${JSON.stringify(texts)}`, { cause: e });
      } finally {
        program.kill();
      }
    }
    await page.goto("about:blank");
    setOutage(false);
  });
  await step("console", () => assert.deepEqual(said, []));
}, () => { for (const program of Object.values(stuck)) program.kill(); rmSync(downloads, { recursive: true, force: true }); });
