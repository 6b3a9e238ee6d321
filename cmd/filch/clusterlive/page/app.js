// The page of a cluster: it shows what the store has of it.

import { Shell, select, $ } from "./shell.js";
import { count } from "./text.js";
import { Plot } from "./plot.js";
import { Store } from "./store.js";
import { showTiles, showNews, showNodes, showQueues } from "./tables.js";
import { showSteals } from "./heat.js";

export const store = new Store();
const plots = { done: new Plot("done"), waiting: new Plot("waiting") };
let filter = "", last = 0; // when all was drawn
let heard = performance.now(); // when the server said something

const shell = new Shell({
  store, draw, events: () => "events", counts: "view",
  kinds: {
    hello(name) { store.name = name; show(); heard = performance.now(); },
    view(data) { store.add(data); heard = performance.now(); },
    missed: (n) => { store.missed += n; },
  },
  opened: show,
  due: (now) => now - last >= 1000,
  restyle() { for (const plot of Object.values(plots)) plot.restyle(); $("matrix").dataset.key = ""; },
  resize() { for (const plot of Object.values(plots)) plot.resize(); },
  filter(text) { filter = text.trim().toLowerCase(); },
  state() {
    if (store.error) return ["lost", "the cluster cannot be reached"];
    if (performance.now() - heard > 3000) return ["lost", "waiting for the cluster"];
    return store.ready() ? ["live", "live"] : ["wait", "asking the cluster"];
  },
});

// receive takes an event of the server.
export const receive = (kind, data) => shell.receive(kind, data);

function show() {
  select([`cluster ${store.name}`], 0);
  document.title = `filch cluster ${store.name}`;
}

// draw draws everything.
export function draw(now = performance.now()) {
  last = now;
  $("unreached").textContent = store.error && `The cluster cannot be reached: ${store.error}. It is asked again and again${store.seen ? `; what is shown is of ${new Date(store.seen).toTimeString().slice(0, 8)}` : ""}.`;
  $("unreached").hidden = !store.error;
  const nodes = store.shown(filter);
  showTiles($("tiles"), store);
  showNews($("news"), store);
  showNodes($("nodes"), store, nodes);
  showQueues($("queues"), store, filter);
  showSteals($("matrix"), $("steals-text"), nodes);
  for (const [name, plot] of Object.entries(plots)) plot.show(store.series.t, store.lines(name));
  const left = [];
  if (store.missed) left.push(`messages that came too fast: ${count(store.missed)}`);
  if (shell.skipped) left.push(`messages that were not kept during pauses: ${count(shell.skipped)}`);
  $("lost").textContent = left.length ? `${left.join("; ")}.` : "";
}

await shell.start();
