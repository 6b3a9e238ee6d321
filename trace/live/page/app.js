// The page: it reads the server's events and shows what the store has.

import { Store, span, count } from "./store.js";
import { Lanes } from "./lanes.js";
import { Charts, drawSteals } from "./charts.js";
import { showTiles, showTimes, showRuns, showLegend } from "./tables.js";

const $ = (id) => document.getElementById(id);

export const store = new Store();
const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const remembered = () => { try { return localStorage.getItem("filch-theme"); } catch { return null; } };
root.dataset.theme = remembered() ?? (dark.matches ? "dark" : "light");

export const lanes = new Lanes($("lanes"), store);
const charts = new Charts(store);
let source = null, paused = false, dirty = true, slow = 0, stale = false, skipped = 0, file = "";

// receive takes an event of the server.
export function receive(kind, data) {
  if (kind === "hello") {
    Object.assign(store, { pools: data.pools, sorts: data.sorts, pool: data.pool });
    showPools();
    return;
  }
  if (paused || file) {
    if (kind === "part") skipped++;
    return;
  }
  if (kind === "part") store.add(data);
  if (kind === "look") store.see(data);
  if (kind === "missed") store.missed += data;
  dirty = true;
}

function showPools() {
  const select = $("pool");
  select.replaceChildren(...store.pools.map((name, i) => new Option(name, i, false, i === store.pool)));
  select.disabled = store.pools.length < 2;
}

function status(state, text) {
  if ($("status").textContent !== text) $("status").textContent = text;
  $("status").dataset.state = state;
}

function problem(text) {
  $("problem").textContent = text;
  $("problem").hidden = !text;
}

// connect reads the events of a pool, again and again if the server goes.
function connect(pool) {
  source?.close();
  source = new EventSource(`events?pool=${pool}`);
  for (const kind of ["hello", "part", "look", "missed"]) source.addEventListener(kind, (e) => receive(kind, JSON.parse(e.data)));
  source.onopen = () => { if (!paused && !file) status("live", "live"); problem(""); };
  source.onerror = () => {
    if (!paused && !file) status("lost", "waiting for the server");
    if (source.readyState === EventSource.CLOSED) why(pool);
  };
}

// why finds out why there are no events, and tries again.
async function why(pool) {
  const answer = await fetch(`events?pool=${pool}`, { method: "HEAD" }).catch(() => null);
  if (answer?.status === 401) {
    $("token").hidden = false;
    status("lost", "no token");
    if (!$("token").contains(document.activeElement)) $("secret").focus();
    return;
  }
  if (answer?.status === 403) return problem("The server refuses this page: its host is not allowed.");
  setTimeout(() => connect(answer?.status === 404 ? 0 : pool), answer?.status === 503 ? 5000 : 1000);
}

async function giveToken(token) {
  const answer = await fetch("token", { method: "POST", body: new URLSearchParams({ token }) }).catch(() => null);
  $("refused").textContent = answer?.ok ? "" : answer?.status === 401 ? "This is not the token." : "The server does not answer.";
  if (!answer?.ok) return false;
  $("token").hidden = true;
  $("secret").value = "";
  return true;
}

$("token").addEventListener("submit", async (e) => {
  e.preventDefault();
  if (await giveToken($("secret").value)) connect(store.pool);
});

// The theme.

function restyle() {
  lanes.restyle();
  charts.restyle();
  dirty = true;
  slow = 0; // the charts, the matrix and the legend too
}
function changeTheme() {
  root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
  try { localStorage.setItem("filch-theme", root.dataset.theme); } catch { /* it is not remembered */ }
  restyle();
}
dark.addEventListener("change", () => {
  if (remembered()) return;
  root.dataset.theme = dark.matches ? "dark" : "light";
  restyle();
});

// Pause, snapshots.

function pause(on) {
  if (file && !on) { // back from a file
    file = "";
    store.clear();
    connect(Number($("pool").value) || 0);
  }
  paused = on;
  $("pause").setAttribute("aria-pressed", String(on));
  $("pause").textContent = on ? "Go on" : "Pause";
  if (file) status("paused", `file ${file}`);
  else if (on) status("paused", "paused");
  else status(source?.readyState === EventSource.OPEN ? "live" : "wait", source?.readyState === EventSource.OPEN ? "live" : "connecting");
  dirty = true;
}

function save() {
  const url = URL.createObjectURL(new Blob([JSON.stringify(store.snapshot())], { type: "application/json" }));
  const a = Object.assign(document.createElement("a"), { href: url, download: `filch-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.json` });
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function openFile(f) {
  try {
    if (f.size > 64 << 20) throw new Error("it is larger than 64 MB");
    store.restore(JSON.parse(await f.text()));
  } catch (e) {
    problem(`${f.name} cannot be opened: ${e.message}`);
    return;
  }
  problem("");
  file = f.name;
  lanes.follow();
  lanes.setFilter($("filter").value);
  showPools();
  pause(true);
}

// Controls.

$("pool").addEventListener("change", () => { store.clear(); lanes.follow(); lanes.span = null; connect(Number($("pool").value)); });
$("pause").addEventListener("click", () => pause(!paused));
$("save").addEventListener("click", save);
$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", () => { if ($("file").files[0]) openFile($("file").files[0]); $("file").value = ""; });
$("theme").addEventListener("click", changeTheme);
$("filter").addEventListener("input", () => filter($("filter").value));
$("in").addEventListener("click", () => { lanes.zoom(.5); dirty = true; });
$("out").addEventListener("click", () => { lanes.zoom(2); dirty = true; });
$("now").addEventListener("click", () => { lanes.follow(); dirty = true; });

function filter(text) {
  if ($("filter").value !== text) $("filter").value = text;
  lanes.setFilter(text);
  dirty = true;
  slow = 0;
}

function choose(s) {
  lanes.span = s;
  $("chosen").textContent = s ? lanes.tell(s).replaceAll("\n", "; ") : "";
  if (s && (s.begin < lanes.left || s.end > lanes.right)) {
    lanes.width = Math.max(lanes.width, (s.end - s.begin) * 1.2);
    lanes.end = Math.min(store.t, (s.begin + s.end + lanes.width) / 2);
  }
}

const keys = {
  " ": () => pause(!paused), "/": () => $("filter").focus(), s: save, o: () => $("open").click(), t: changeTheme,
  "+": () => lanes.zoom(.5), "=": () => lanes.zoom(.5), "-": () => lanes.zoom(2), 0: () => lanes.follow(),
  ArrowLeft: () => lanes.move(-lanes.width / 8), ArrowRight: () => lanes.move(lanes.width / 8),
  "[": () => choose(lanes.beside(-1) ?? lanes.span), "]": () => choose(lanes.beside(1) ?? lanes.span),
  Escape: () => choose(null),
};
const ofCanvas = {
  ArrowUp: () => { lanes.chosen = Math.max(lanes.first, lanes.chosen - 1); },
  ArrowDown: () => { lanes.chosen = Math.min(lanes.first + lanes.count - 1, lanes.chosen + 1); },
};
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const at = e.target, key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
  if (at.matches("input, select, textarea")) {
    if (key === "Escape" && at.id === "filter") { filter(""); at.blur(); }
    return;
  }
  if (key === " " && at.matches("button")) return;
  if (key.startsWith("Arrow") && at.closest(".scroll")) return;
  const f = keys[key] ?? (at === $("lanes") ? ofCanvas[key] : undefined);
  if (!f) return;
  e.preventDefault();
  f();
  dirty = true;
});

// The pointer on the lanes: it shows a span, moves with a button or a finger, zooms with two.

const canvas = $("lanes"), tip = $("tip"), pointers = new Map();
canvas.addEventListener("pointerdown", (e) => { pointers.set(e.pointerId, e); canvas.setPointerCapture(e.pointerId); });
for (const over of ["pointerup", "pointercancel"]) canvas.addEventListener(over, (e) => pointers.delete(e.pointerId));
canvas.addEventListener("pointerleave", () => { tip.hidden = true; lanes.span = null; dirty = true; });
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
  dirty = true;
});
canvas.addEventListener("dblclick", (e) => { lanes.zoom(.25, e.offsetX); dirty = true; });
canvas.addEventListener("wheel", (e) => {
  if (e.ctrlKey || e.metaKey) lanes.zoom(2 ** (Math.max(-60, Math.min(60, e.deltaY)) / 60), e.offsetX);
  else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) lanes.move((e.deltaX || e.deltaY) * (lanes.width / lanes.w));
  else return; // the page scrolls
  e.preventDefault();
  dirty = true;
}, { passive: false });

function hover(x, y) {
  const mark = lanes.markUnder(x, y), s = mark ? null : lanes.under(x, y);
  lanes.span = s;
  tip.hidden = !s && !mark;
  if (tip.hidden) return;
  tip.textContent = mark || lanes.tell(s);
  tip.style.left = `${Math.max(0, Math.min(x + 12, lanes.w - tip.offsetWidth - 4))}px`;
  tip.style.top = `${y + 16}px`;
}

// Drawing: once a frame at most, if there is something new; the tables once a second.

// draw draws everything.
export function draw(now = performance.now()) {
  lanes.draw();
  $("window").textContent = `${span(lanes.width)} up to ${lanes.end === null ? "now" : `${(lanes.end / 1e9).toFixed(3)} s`}`;
  $("now").disabled = lanes.end === null;
  stale = now - slow < 1000;
  if (stale) return;
  slow = now;
  showTiles($("tiles"), store);
  showTimes($("times"), store, lanes);
  showLegend($("legend"), store, lanes, (name) => filter(lanes.filter === name.toLowerCase() ? "" : name));
  showRuns($("runs"), $("waits"), store);
  charts.draw();
  drawSteals($("steals"), $("steals-note"), $("steals-text"), store, lanes);
  lost();
}

function lost() {
  const all = [];
  if (store.lost) all.push(`${count(store.read)} of ${count(store.lost + store.read)} events are shown, the others were too many`);
  if (store.missed) all.push(`messages that came too fast: ${count(store.missed)}`);
  if (skipped) all.push(`messages that were not kept during pauses: ${count(skipped)}`);
  if (lanes.arrowsDrawn >= 600) all.push("the last 600 arrows are drawn");
  $("lost").textContent = all.length ? `${all.join("; ")}.` : "";
}

function frame(now) {
  requestAnimationFrame(frame);
  if ((dirty || (stale && now - slow >= 1000)) && store.parts > 0 && !document.hidden) {
    dirty = false;
    draw(now);
    root.dataset.drawn = String(Number(root.dataset.drawn ?? 0) + 1);
  }
}

new ResizeObserver(() => { lanes.resize(); charts.resize(); dirty = true; slow = 0; }).observe(document.body);

// The token of the fragment goes to the server once, and out of the history.
const given = new URLSearchParams(location.hash.slice(1)).get("token");
if (given !== null) {
  history.replaceState(null, "", location.pathname + location.search);
  await giveToken(given);
}
connect(0);
requestAnimationFrame(frame);
