// Figures, news and tables.

import { span, count, rows, items, figures } from "./text.js";

const sum = (all, f) => all.reduce((n, x) => n + f(x), 0);
const ms = (n) => span(1e6 * n);

// fetched returns how many tasks a node has fetched.
const fetched = (n) => sum([...n.from.values()], (k) => k);

export function showTiles(list, store) {
  const here = store.here(), { queues } = store, all = sum(here, fetched), others = all - sum(here, (n) => n.from.get(n.name) ?? 0);
  const known = here.filter((n) => n.rate !== null);
  figures(list, [
    ["nodes", count(here.length)], ["running", `${count(sum(here, (n) => n.stats.running))} of ${count(sum(here, (n) => n.places))}`],
    ["waiting", count(sum(queues, (q) => q.waiting))], ["taken", count(sum(queues, (q) => q.taken))], ["oldest", span(Math.max(0, ...queues.map((q) => q.oldest)))],
    ["done a second", known.length ? count(sum(known, (n) => n.rate)) : "–"], ["fetched", count(all)], ["of other nodes", all ? `${Math.round(100 * others / all)} %` : "–"],
    ["local", count(sum(here, (n) => n.stats.local))], ["failed", count(sum(here, (n) => n.stats.failed))], ["dead letters", count(sum([...store.dead.values()], (n) => n))],
  ]);
}

const NEWS = 8;

// showNews says what is not as it should be.
export function showNews(list, store) {
  const all = [];
  if (store.seen && !store.here().length) all.push(["There are no nodes. One is listed as soon as it has a handler.", ""]);
  if (store.seen && !store.queues.length) all.push(["There are no queues: no node has had a handler.", ""]);
  for (const n of store.shown("")) {
    const state = store.state(n)[0];
    if (state === "silent") all.push([`Node ${n.name} is silent: it has told nothing for more than 7 s. Its tasks go to other nodes when their time to be acknowledged is over.`, "bad"]);
    if (state === "lost") all.push([`Node ${n.name} is lost: it has told nothing for 15 s.`, "bad"]);
    if (state === "left") all.push([`Node ${n.name} has left.`, ""]);
  }
  for (const handler of store.paused()) all.push([`Handler ${handler} is paused: its tasks wait.`, ""]);
  for (const q of store.deserted()) all.push([`Tasks of ${q.handler} ${q.lane} wait, and no node has this handler.`, "bad"]);
  items(list, all.length > NEWS ? [...all.slice(0, NEWS), [`and ${all.length - NEWS} more`, ""]] : all);
}

export function showNodes(table, store, nodes) {
  const paused = store.paused(), now = store.now();
  const lines = nodes.map((n) => {
    const [state, kind] = store.state(n), s = n.stats;
    const told = state === "silent" ? ` for ${ms(store.silence(n))}` : n.gone ? ` ${ms(store.wall - n.gone)} ago` : "";
    return [
      [n.name, "name"], [state + told, `name ${kind}`], `${count(s.running)} of ${count(n.places)}`, n.rate === null ? "–" : count(n.rate), count(fetched(n)), count(s.local), count(s.waiting),
      count(s.failed), [count(s.dead), s.dead ? "bad" : ""], count(s.returned), n.opened > 0 ? ms(Math.max(0, (n.gone ? n.seen : now) - n.opened)) : "", `${n.tier}`,
      [`${n.host} ${n.pid || ""}`, "name"], [n.handlers.map((h) => paused.has(h) ? `${h} (paused)` : h).join(", "), "name"],
    ];
  });
  rows(table.tBodies[0], lines.length ? lines : [[["no node", "name"], ...Array(13).fill("")]]);
}

export function showQueues(table, store, filter) {
  const first = new Set(), deserted = store.deserted(), lines = [];
  for (const q of store.busy()) {
    if (!q.handler.toLowerCase().includes(filter)) continue;
    const dead = first.has(q.handler) ? "" : store.dead.get(q.handler) ?? 0;
    first.add(q.handler);
    const state = deserted.has(q) ? ["no node has it", "name bad"] : q.paused ? ["paused", "name warn"] : ["", "name"];
    lines.push([
      [q.handler, "name"], [q.lane, "name"], state, count(q.waiting), count(q.taken), count(q.redelivered), dead === "" ? "" : [count(dead), dead ? "bad" : ""],
      q.oldest ? span(q.oldest) : "", count(q.requests),
    ]);
  }
  rows(table.tBodies[0], lines.length ? lines : [[["no queue", "name"], ...Array(8).fill("")]]);
}
