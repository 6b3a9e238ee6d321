// Drives the playground in a browser, for page_test.go, which serves it and says where:
//
//   node page.mjs <url> <folder of screenshots> <browser>

import assert from "node:assert/strict";
import { args, end, noViolations, page, said, screenshot, step, until } from "./drive.mjs";

const [base] = args;
const elsewhere = [];
page.on("request", (r) => { if (!r.url().startsWith(base) && !/^(blob|data):/.test(r.url())) elsewhere.push(r.url()); });
await page.setViewport({ width: 1280, height: 900 });

// ask asks the modules of the page.
const ask = (f, ...args) => page.evaluate(`import("./app.js").then((m) => (${f})(m, ...${JSON.stringify(args)}))`);
const at = () => ask("(m) => m.state.t");
const text = (selector) => page.$eval(selector, (e) => e.textContent);
const shown = (n) => until((n) => !document.getElementById("time").disabled && document.querySelectorAll(".panel").length === n, n);
// picture returns what is drawn, of all panels.
const picture = () => page.evaluate(() => [...document.querySelectorAll("canvas")].map((c) => c.toDataURL()).join() + document.querySelector(".now").textContent);
const open = async (fragment) => {
  await page.goto("about:blank");
  await page.goto(`${base}/any/folder/${fragment}`);
  await until(() => document.documentElement.dataset.ready === "yes");
  await page.evaluate(() => new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(r)))); // the layout has settled
};
const theme = async (name) => {
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: name }]);
  await until((dark) => matchMedia("(prefers-color-scheme: dark)").matches === dark, name === "dark");
};
await end(async () => {
  await theme("light");
  await step("loads", async () => {
    const begin = Date.now();
    await open("");
    console.log(`note ready after ${Date.now() - begin} ms`);
    await shown(1);
    assert.equal(await text(".panel h2"), "fib=9 by child");
  });
  await step("equal results", async () => {
    const { menu, runs } = await page.evaluate((url) => fetch(url).then((r) => r.json()), `${base}/expected.json`);
    assert.ok(runs.length >= 20 * menu.schedulers.length);
    const got = await ask("async (m, requests) => { const all = []; for (const r of requests) { const x = await m.run(r); all.push(x.result ?? x.error); } return all; }", runs.map((r) => r.request));
    const stale = 'docs/playground/sim.wasm.gz is not what the source is: "make playground" writes it';
    runs.forEach((r, i) => assert.equal(got[i], r.result, `${stale}: ${JSON.stringify(r.request)}`));
    const options = await page.$$eval("#scheduler option", (all) => all.map((o) => o.value));
    assert.deepEqual(options, menu.schedulers.map((s) => s.name), stale);
    console.log(`note ${runs.length} runs are equal`);
  });
  await step("forward and back", async () => {
    const pictures = [], times = [];
    for (let i = 0; i < 40; i++) {
      times.push(await at()), pictures.push(await picture());
      await page.click("#forth");
    }
    assert.equal(new Set(pictures).size, 40, "steps look the same");
    for (let i = 39; i >= 0; i--) {
      await page.click("#back");
      assert.equal(await at(), times[i]);
      assert.ok(await picture() === pictures[i], `step ${times[i]} looks different on the way back`);
    }
  });
  await step("deques add up", async () => {
    // What runs and what is in deques are threads that are alive; and the figures end with those of the result.
    const wrong = await ask(`(m) => {
      const f = m.films[0], wrong = [];
      for (let t = 0; t <= f.end; t++) {
        const n = f.counts(t);
        let busy = 0, queued = 0;
        for (let w = 0; w < f.result.workers; w++) { if (f.worker(w, t).runs !== undefined) busy++; queued += f.queue(w, t).size; }
        if (busy !== n.running || busy + queued > n.live) wrong.push(t);
      }
      const n = f.counts(f.end), r = f.result;
      if (n.steals !== r.steals || n.attempts !== r.attempts || n.live !== 0 || Math.abs(n.idle - r.idle / (r.workers * r.time)) > 1e-9) wrong.push(["end", n, r]);
      return wrong;
    }`);
    assert.deepEqual(wrong, []);
  });
  await step("figures", async () => {
    // What is counted on the page ends with the result, under each scheduler.
    const wrong = await ask(`async (m) => {
      const { Film } = await import("./film.js"), wrong = [], names = [...document.querySelectorAll("#scheduler option")].map((o) => o.value);
      for (const scheduler of names) {
        const f = new Film(await m.run({ dag: "fib=11", graph: "", scheduler, workers: "5", seed: "7", cost: "2" })), n = f.counts(f.end), r = f.result;
        let most = 0, queued = 0;
        for (let t = 0; t <= f.end; t++) most = Math.max(most, f.counts(t).live);
        for (let w = -1; w < 5; w++) queued += f.queue(w, f.end).size;
        const idle = r.idle / (r.workers * r.time);
        if (n.steals !== r.steals || n.attempts !== r.attempts || n.live || n.running || queued || most > r.max_live || Math.abs(n.idle - idle) > 1e-9) wrong.push([scheduler, n, most, queued, idle, r]);
      }
      return names.length > 5 ? wrong : names;
    }`);
    assert.deepEqual(wrong, []);
  });
  await step("keyboard", async () => {
    await open("");
    for (let i = 0; i < 40 && await page.evaluate(() => document.activeElement.id) !== "forth"; i++) await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.id), "forth");
    assert.ok(await page.evaluate(() => getComputedStyle(document.activeElement).outlineStyle !== "none"), "the focus is not visible");
    await page.keyboard.press("Enter");
    assert.equal(await at(), 1);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowLeft");
    assert.equal(await at(), 1);
    await page.keyboard.press("]");
    assert.match(await text(".now"), /steals thread/);
    const first = await at();
    await page.keyboard.press("]");
    await page.keyboard.press("[");
    assert.equal(await at(), first);
    await page.keyboard.press("End");
    assert.equal(await at(), await ask("(m) => m.films[0].end"));
    await page.keyboard.press("Home");
    assert.equal(await at(), 0);
    await page.keyboard.press("+");
    assert.equal(await text("#zoom"), "2×");
    await page.keyboard.press("-");
    for (let i = 0; i < 60 && await page.evaluate(() => document.activeElement.id) !== "workers"; i++) await page.keyboard.press("Tab");
    await page.keyboard.type("16"); // Tab has selected what was there
    await page.keyboard.press("Enter");
    await until(() => document.querySelector(".panel .tiles").textContent.includes("of 16"));
  });
  await step("plays", async () => {
    await open("#t=3");
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press("Space");
    await until(() => import("./app.js").then((m) => m.state.t > 6));
    await page.keyboard.press("Space");
    assert.equal(await text("#play"), "Play");
  });
  await step("link", async () => {
    await open("#dag=quicksort%3D100&scheduler=continuation&with=pool&workers=6&seed=18446744073709551615&cost=3&t=25&zoom=4");
    await shown(2);
    const before = await picture();
    assert.equal(await page.$eval("#seed", (e) => e.value), "18446744073709551615");
    await page.keyboard.press("]");
    const now = await picture(), t = await at();
    await until((t) => location.hash.includes(`t=${t}&`), t);
    const link = await page.evaluate(() => location.hash);
    await open(link);
    assert.notEqual(t, 25);
    assert.equal(await at(), t);
    assert.ok(now !== before && await picture() === now, `${link} shows something else`);
    await page.evaluate((h) => { location.hash = h; }, "#dag=chain%3D9&scheduler=child&workers=2&seed=1&t=2");
    await until(() => document.querySelector(".panel h2").textContent === "chain=9 by child");
    assert.equal(await at(), 2);
  });
  await step("compare", async () => {
    await open("#dag=loop%3D40&scheduler=child&workers=4&seed=1&t=0");
    assert.match(await text(".now"), /Worker 0 begins the program: thread 0\./);
    await page.keyboard.press("]");
    const t = await at();
    await page.select("#with", "continuation");
    await shown(2);
    assert.ok(t > 0);
    assert.equal(await at(), t);
    const deepest = await ask("(m) => m.films.map((f) => f.result.max_deque)");
    assert.ok(deepest[0] > 10 && deepest[1] < 3, `${deepest}`);
    const [a, b] = await page.$$eval(".panel", (all) => all.map((p) => p.getBoundingClientRect().toJSON()));
    assert.ok(a.top === b.top && a.right <= b.left, "they are not side by side");
    await page.keyboard.press("End");
    assert.equal(await at(), await ask("(m) => Math.max(...m.films.map((f) => f.end))"));
    await page.select("#with", "");
    await shown(1);
  });
  await step("a graph", async () => {
    await page.select("#dag", "graph");
    await until(() => document.querySelector(".panel h2").textContent === "graph by child");
    assert.equal(await ask("(m) => m.films[0].result.t1"), 32);
    await noViolations();
    await page.click("#graph", { count: 3 });
    await page.$eval("#graph", (e) => { e.value = '{"graph":\n 0}'; });
    await page.click("button[type=submit]");
    await until(() => /line 2, column 2/.test(document.getElementById("problem").textContent));
    await page.$eval("#graph", (e) => { e.value = '{"graph": {"parallel": [3, 4, 5]}}'; });
    await page.click("button[type=submit]");
    await until(() => import("./app.js").then((m) => m.films[0].result.t1 === 12));
    await until(() => location.hash.includes("%5B3%2C+4%2C+5%5D"));
    await open(await page.evaluate(() => location.hash));
    assert.equal(await ask("(m) => m.films[0].result.t1"), 12);
  });
  await step("refuses", async () => {
    await open("#dag=fib%3Dx&workers=4");
    assert.match(await text("#problem"), /^fib=x/);
    assert.equal(await page.$eval("#size", (e) => e.getAttribute("aria-invalid")), "true");
    assert.equal(await page.$$eval(".panel", (all) => all.length), 0);
    await page.$eval("#size", (e) => { e.value = "5"; });
    await page.click("button[type=submit]");
    await shown(1);
    assert.ok(await page.$eval("#problem", (e) => e.hidden));
    assert.equal(await page.$eval("#size", (e) => e.getAttribute("aria-invalid")), "false");
    await open("#workers=1000");
    assert.match(await text("#problem"), /from 1 to 256/);
    assert.equal(await page.$eval("#workers", (e) => e.getAttribute("aria-invalid")), "true");
  });
  await step("pointer", async () => {
    await open("");
    const box = await (await page.$(".rows")).boundingBox();
    await page.mouse.click(box.x + box.width / 2, box.y + 30);
    const t = await at(), all = await ask("(m) => m.films[0].end");
    assert.ok(t > 0.4 * all && t < 0.6 * all, `step ${t} of ${all}`);
  });
  for (const name of ["light", "dark"]) {
    await step(name, async () => {
      await theme(name);
      await open("#dag=fib%3D12&scheduler=child&workers=8&seed=1&t=24");
      await noViolations();
      await screenshot(name);
      await open("#dag=loop%3D40%4020&scheduler=child&with=continuation&workers=4&seed=1&t=45");
      await noViolations();
      await screenshot(`compare-${name}`);
      await open("#dag=quicksort%3D2000&scheduler=pool&workers=64&seed=1&t=5200");
      await screenshot(`64-${name}`);
      await open("#dag=uts%3D5&scheduler=pdf&with=mailbox&workers=6&seed=3&t=12");
      await screenshot(`queue-${name}`);
      await open("#dag=tree%3D9%4050&scheduler=pool&with=child&workers=4&seed=1&t=300");
      await screenshot(`pool-${name}`);
    });
  }
  await step("large", async () => {
    for (const [dag, scheduler, workers] of [["fib=22", "child", 8], ["fib=30", "child", 4]]) {
      const took = await ask(`async (m, r) => { const begin = performance.now(), x = await m.run(r); return [performance.now() - begin, x.error ?? x.events.length / 20]; }`,
        { dag, graph: "", scheduler, workers: String(workers), seed: "1", cost: "1" });
      console.log(`note ${dag} by ${scheduler} on ${workers}: ${took[0].toFixed(0)} ms, ${took[1]}`);
    }
    await open("#dag=fib%3D20&scheduler=child&workers=64&seed=1&t=0");
    const steps = await ask(`(m) => {
      const begin = performance.now(), all = m.films[0].end;
      for (let i = 0; i < 100; i++) m.go(all - i * 3);
      return (performance.now() - begin) / 100;
    }`);
    console.log(`note a step back in a run of ${await ask("(m) => m.films[0].count")} events takes ${steps.toFixed(1)} ms`);
  });
  await step("phone", async () => {
    await page.setViewport({ width: 390, height: 844, deviceScaleFactor: 1, isMobile: true, hasTouch: true });
    for (const name of ["dark", "light"]) {
      await theme(name);
      await open("#dag=fib%3D12&scheduler=child&with=continuation&workers=8&seed=1&t=24");
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "it is wider than the phone");
      await noViolations();
      await screenshot(`phone-${name}`);
    }
  });
  await step("console", () => {
    assert.deepEqual(said, []);
    said.length = 0;
    assert.deepEqual(elsewhere, []);
  });
  await step("without the simulator", async () => { // the browser complains too
    await page.goto(`${base}/bare/`);
    await until(() => /sim.wasm.gz: 404; "make playground" writes it/.test(document.getElementById("problem").textContent));
  });
});
