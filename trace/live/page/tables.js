// Figures, tables and the legend.

import { span, count, rows, items, figures } from "./text.js";
import { short, withoutPaths } from "./lanes.js";

// showVerdict shows what is the matter with the pool, and with a click why.
export function showVerdict(details, store) {
  const v = store.verdict;
  details.hidden = !v;
  if (!v) return;
  details.dataset.kind = v.kind;
  const text = details.querySelector("strong");
  if (text.textContent !== v.text) text.textContent = v.text;
  items(details.querySelector("ul"), (v.reasons ?? []).map((r) => [r, ""]));
}

const mean = (all) => all.reduce((sum, x) => sum + x, 0) / Math.max(1, all.length);

export function showTiles(few, list, store) {
  const s = store.stats, last = (k) => store.series[k].at(-1) ?? 0, recent = (k) => mean(store.series[k].slice(-25)), extra = Math.max(0, s.Busy - s.Workers);
  figures(few, [
    ["workers busy", `${s.Busy - extra} of ${s.Workers}${extra ? ` + ${extra}` : ""}${s.Paused ? ", paused" : ""}`], ["queued", count(s.Tasks.Queued)],
    ["oldest in a queue", s.Tasks.Oldest ? span(s.Tasks.Oldest) : "–"], ["tasks a second", count(recent("done"))], ["waiting without a slot", count(s.Blocked)],
    ["failed", count(s.Tasks.Failed + s.Tasks.Panicked)],
  ]);
  figures(list, [
    ["searching", count(s.Searching)], ["running tasks", count(s.Tasks.Running)], ["submitters waiting", count(s.Tasks.Waiting ?? 0)], ["held", count(s.Tasks.Held ?? 0)],
    ["extra workers, since some are blocked", count(s.Extra)], ["steals a second", count(last("steals"))],
  ]);
}

// Durations are counted in classes, eight to an octave.
const CLASSES = 8 * 46;
const classOf = (ns) => (ns < 1 ? 0 : Math.min(CLASSES - 1, Math.floor(Math.log2(ns) * 8)));

// byName returns the run times of the spans that lanes shows, by name, those that took most first.
export function byName(store, lanes) {
  const s = store.spans, all = new Map(), { left, right } = lanes;
  const body = store.sorts.map((_, i) => lanes.look(i) === "body");
  for (let i = 0; i < s.length; i++) {
    if (s.end[i] < left || s.end[i] > right || !body[s.sort[i]] || !lanes.match(s.name[i])) continue;
    const took = s.end[i] - s.begin[i];
    let x = all.get(s.name[i]);
    if (!x) all.set(s.name[i], (x = { name: s.name[i], n: 0, total: 0, longest: 0, classes: new Uint32Array(CLASSES) }));
    x.n++;
    x.total += took;
    x.longest = Math.max(x.longest, took);
    x.classes[classOf(took)]++;
  }
  return [...all.values()].sort((a, b) => b.total - a.total);
}

function percentile(x, part) {
  let left = part * x.n;
  for (let i = 0; i < CLASSES; i++) if ((left -= x.classes[i]) <= 0) return Math.min(x.longest, 2 ** ((i + .5) / 8));
  return x.longest;
}

export function showTimes(table, store, lanes) {
  const all = byName(store, lanes).slice(0, 40);
  rows(table.tBodies[0], all.map((x) => [[short(store.names[x.name]), "", store.names[x.name]], count(x.n), ...[.5, .9, .99].map((p) => span(percentile(x, p))), span(x.longest)]));
}

export function showLegend(list, store, lanes, choose) {
  const names = [...byName(store, { ...own(lanes), match: () => true }), ...openNames(store, lanes)];
  for (let i = names.length - 1; i > 0; i--) if (names.findIndex((x) => x.name === names[i].name) < i) names.splice(i, 1);
  names.splice(8);
  const key = names.map((x) => x.name).join() + document.documentElement.dataset.theme + lanes.filter;
  if (list.dataset.key === key) return;
  list.dataset.key = key;
  const item = (colour, content, thin) => {
    const li = document.createElement("li"), k = document.createElement("span");
    k.className = thin ? "key thin" : "key";
    k.style.background = colour;
    li.append(k, content);
    return li;
  };
  const buttons = names.map((x) => {
    const b = document.createElement("button"), name = store.names[x.name];
    b.type = "button";
    b.textContent = short(name);
    b.title = `Filter by ${name}`;
    b.setAttribute("aria-pressed", String(lanes.filter === name.toLowerCase()));
    b.addEventListener("click", () => choose(name));
    return item(lanes.colour(x.name), b);
  });
  list.replaceChildren(...buttons, item(lanes.search, "searches", true), item(lanes.spin, "waits at a join", true), item(lanes.wait, "waits without a slot", true),
    item(lanes.arrow, "steal", true), item(lanes.mark, "event", true), item(lanes.gap, "not seen", true));
}

// openNames returns the names of the spans that go on.
function openNames(store, lanes) { return store.going().filter((o) => lanes.look(o.sort) === "body").map(({ name }) => ({ name })); }

// own returns what byName needs of lanes.
function own(lanes) { return { left: lanes.left, right: lanes.right, look: (i) => lanes.look(i) }; }

export function showRuns(table, waits, store) {
  const l = store.look;
  if (!l) return;
  const list = (a) => a ?? []; // a server leaves out what is empty
  const all = [
    ...list(l.workers).map((w) => [`${w.worker}`, w.task || "–", w.for ? `${span(w.for)} or more` : "", w.doing, w.at, w.queued ? count(w.queued) : ""]),
    ...list(l.inPlace).map((t) => ["–", t.task, "", "in place", t.at, ""]),
    ...list(l.long).map((t) => ["–", t.task, "", "long running", t.at, ""]),
    ...list(l.held).map((h) => ["–", h.task, "", `held: ${h.why}`, "", ""]),
    ...(l.moreHeld ? [["–", `and ${count(l.moreHeld)} more`, "", "held", "", ""]] : []),
  ];
  const cell = (text) => [withoutPaths(text), "", text];
  rows(table.tBodies[0], all.length ? all.map(([worker, task, time, doing, at, queued]) => [worker, cell(task), time, cell(doing), cell(at), queued]) : [["–", "nothing runs", "", "", "", ""]]);
  const lines = [
    ...list(l.circles).map((c) => [`Circle: ${c}`, "circle"]), ...list(l.waits).map((w) => [`${w.by} waits for ${w.on}`, ""]),
    ...(l.more ? [[`and ${l.more} more`, ""]] : []),
  ];
  items(waits, lines);
}
