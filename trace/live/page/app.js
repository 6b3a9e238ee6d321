// The page of a pool: it shows what the store has of it.

import { Shell, select, $ } from "./shell.js";
import { Store } from "./store.js";
import { span, count } from "./text.js";
import { Lanes } from "./lanes.js";
import { Charts, drawSteals } from "./charts.js";
import { showVerdict, showTiles, showTimes, showRuns, showLegend } from "./tables.js";

export const store = new Store();
export const lanes = new Lanes($("lanes"), store);
const charts = new Charts(store);
let slow = 0, stale = false; // when the tables were drawn, and whether they are older than what is drawn

const shell = new Shell({
  store, draw, events: () => `events?pool=${Number($("pool").value) || 0}`, gone: () => { $("pool").selectedIndex = 0; }, counts: "part",
  kinds: {
    hello: (data) => { Object.assign(store, { pools: data.pools, sorts: data.sorts, pool: data.pool }); select(store.pools, store.pool); },
    part: (data) => store.add(data), look: (data) => store.see(data), verdict: (data) => { store.verdict = data; }, missed: (n) => { store.missed += n; },
  },
  opened() {
    lanes.follow();
    lanes.setFilter($("filter").value);
    select(store.pools, store.pool);
  },
  due: (now) => stale && now - slow >= 1000,
  restyle() { lanes.restyle(); charts.restyle(); slow = 0; },
  resize() { lanes.resize(); charts.resize(); slow = 0; },
  filter(text) { lanes.setFilter(text); slow = 0; },
  keys: {
    "+": () => lanes.zoom(.5), "=": () => lanes.zoom(.5), "-": () => lanes.zoom(2), 0: () => lanes.follow(),
    ArrowLeft: () => lanes.move(-lanes.width / 8), ArrowRight: () => lanes.move(lanes.width / 8),
    "[": () => choose(lanes.beside(-1) ?? lanes.span), "]": () => choose(lanes.beside(1) ?? lanes.span),
    Escape: () => choose(null), f: () => fold(!lanes.folds),
  },
  ofTarget: (at) => at === canvas && ofCanvas,
});
const ofCanvas = {
  ArrowUp: () => lanes.choose(-1),
  ArrowDown: () => lanes.choose(1),
};

// receive takes an event of the server.
export const receive = (kind, data) => shell.receive(kind, data);

$("pool").addEventListener("change", () => { store.clear(); lanes.follow(); choose(null); shell.connect(); });
$("in").addEventListener("click", () => { lanes.zoom(.5); shell.dirty = true; });
$("out").addEventListener("click", () => { lanes.zoom(2); shell.dirty = true; });
$("now").addEventListener("click", () => { lanes.follow(); shell.dirty = true; });

function fold(on) {
  lanes.folds = on;
  $("fold").setAttribute("aria-pressed", String(on));
  shell.dirty = true;
}
$("fold").addEventListener("click", () => fold(!lanes.folds));

function choose(s) {
  lanes.span = s;
  $("chosen").textContent = s ? lanes.tell(s).replaceAll("\n", "; ") : "";
  if (s && (s.begin < lanes.left || s.end > lanes.right)) {
    lanes.width = Math.max(lanes.width, (s.end - s.begin) * 1.2);
    lanes.end = Math.min(store.t, (s.begin + s.end + lanes.width) / 2);
  }
}

// The pointer on the lanes: it shows a span, moves with a button or a finger, zooms with two.

const canvas = $("lanes"), tip = $("tip"), pointers = new Map();
canvas.addEventListener("pointerdown", (e) => { pointers.set(e.pointerId, e); canvas.setPointerCapture(e.pointerId); });
for (const over of ["pointerup", "pointercancel"]) canvas.addEventListener(over, (e) => pointers.delete(e.pointerId));
canvas.addEventListener("pointerleave", () => { tip.hidden = true; lanes.span = lanes.pointed = null; shell.dirty = true; });
canvas.addEventListener("pointermove", (e) => {
  const before = pointers.get(e.pointerId), perPixel = lanes.width / (lanes.w - lanes.gutter);
  if (before && pointers.size === 1) lanes.move((before.offsetX - e.offsetX) * perPixel);
  if (before && pointers.size === 2) {
    const other = [...pointers.values()].find((p) => p.pointerId !== e.pointerId);
    const was = Math.abs(before.offsetX - other.offsetX), is = Math.abs(e.offsetX - other.offsetX);
    if (was > 10 && is > 10) lanes.zoom(was / is, (e.offsetX + other.offsetX) / 2);
  }
  if (before) pointers.set(e.pointerId, e);
  hover(e.offsetX, e.offsetY);
  shell.dirty = true;
});
canvas.addEventListener("dblclick", (e) => { lanes.zoom(.25, e.offsetX); shell.dirty = true; });
canvas.addEventListener("wheel", (e) => {
  if (e.ctrlKey || e.metaKey) lanes.zoom(2 ** (Math.max(-60, Math.min(60, e.deltaY)) / 60), e.offsetX);
  else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) lanes.move((e.deltaX || e.deltaY) * (lanes.width / lanes.w));
  else return; // the page scrolls
  e.preventDefault();
  shell.dirty = true;
}, { passive: false });

function hover(x, y) {
  const mark = lanes.markUnder(x, y), s = mark ? null : lanes.under(x, y);
  lanes.span = s;
  lanes.pointed = lanes.workerAt(y);
  const text = mark || (s ? lanes.tell(s) : x < lanes.gutter ? lanes.tellLane(y) : "");
  tip.hidden = !text;
  if (tip.hidden) return;
  tip.textContent = text;
  tip.style.left = `${Math.max(0, Math.min(x + 12, lanes.w - tip.offsetWidth - 4))}px`;
  tip.style.top = `${y + 16}px`;
}

// draw draws everything, but the tables once a second.
export function draw(now = performance.now()) {
  lanes.draw();
  showVerdict($("verdict"), store);
  $("window").textContent = `${span(lanes.width)} up to ${lanes.end === null ? "now" : `${(lanes.end / 1e9).toFixed(3)} s`}, ${lanes.part(lanes.busyInAll())} busy`;
  $("now").disabled = lanes.end === null;
  stale = now - slow < 1000;
  if (stale) return;
  slow = now;
  showTiles($("tiles"), $("figures"), store);
  showTimes($("times"), store, lanes);
  showLegend($("legend"), store, lanes, (name) => shell.filter(lanes.filter === name.toLowerCase() ? "" : name));
  showRuns($("runs"), $("waits"), store);
  charts.draw();
  drawSteals($("steals"), $("steals-note"), $("steals-text"), store, lanes);
  lost();
}

function lost() {
  const all = [];
  if (store.lost) all.push(`${count(store.read)} of ${count(store.lost + store.read)} events are shown, the others were too many`);
  if (store.missed) all.push(`messages that came too fast: ${count(store.missed)}`);
  if (shell.skipped) all.push(`messages that were not kept during pauses: ${count(shell.skipped)}`);
  if (lanes.arrowsDrawn >= 600) all.push("the last 600 arrows are drawn");
  $("lost").textContent = all.length ? `${all.join("; ")}.` : "";
}

await shell.start();
