// The charts, by uPlot, and the matrix of steals.

import { count } from "./store.js";

/* global uPlot */

const charts = {
  through: [["done", "tasks done", "c0"], ["forks", "forks published", "c2"], ["steals", "steals", "arrow"]],
  queues: [["queued", "queued", "c0"], ["running", "running", "c2"], ["blocked", "blocked goroutines", "c1"], ["held", "held", "c3"]],
};

const WHOLE = Array.from({ length: 9 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat(); // steps of an axis of numbers of tasks

const clock = (s) => new Date(s * 1000).toTimeString().slice(0, 8);

export class Charts {
  constructor(store) {
    this.store = store;
    this.plots = {};
    this.restyle();
  }

  restyle() {
    const style = getComputedStyle(document.documentElement), get = (name) => style.getPropertyValue(`--${name}`).trim();
    for (const [id, lines] of Object.entries(charts)) {
      const box = document.getElementById(id);
      this.plots[id]?.destroy();
      const axis = { stroke: get("soft"), grid: { stroke: get("grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
      this.plots[id] = new uPlot({
        width: box.clientWidth || 300, height: 170, legend: { show: false }, padding: [8, 26, 0, 0], cursor: { y: false, drag: { x: false, y: false } },
        series: [{}, ...lines.map(([, label, colour]) => ({ label, stroke: get(colour), width: 1.5, points: { show: false } }))],
        axes: [
          { ...axis, size: 24, space: 70, incrs: [1, 2, 5, 10, 15, 30, 60], values: (_, all) => all.map(clock) },
          { ...axis, size: 52, ...(id === "through" ? { incrs: [1], space: 15, values: (_, all) => all.map((v) => count(v && 10 ** v)) } : { incrs: WHOLE, values: (_, all) => all.map(count) }) },
        ],
        scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.08)] } },
      }, this.data(id), box);
      const legend = document.getElementById(`${id}-legend`);
      legend.replaceChildren(...lines.map(([, label, colour]) => {
        const li = document.createElement("li"), key = document.createElement("span");
        key.className = "key thin";
        key.style.background = get(colour);
        li.append(key, label, " ", document.createElement("b"));
        return li;
      }));
    }
  }

  resize() {
    for (const [id, plot] of Object.entries(this.plots)) {
      const width = document.getElementById(id).clientWidth;
      if (width > 0 && width !== plot.width) plot.setSize({ width, height: 170 });
    }
  }

  // data returns the points. Those of throughput, which differ by far, are logarithms.
  data(id) {
    const log = (v) => Math.log10(1 + v);
    return [this.store.series.t, ...charts[id].map(([key]) => (id === "through" ? this.store.series[key].map(log) : this.store.series[key]))];
  }

  draw() {
    for (const [id, plot] of Object.entries(this.plots)) {
      plot.setData(this.data(id));
      const values = document.querySelectorAll(`#${id}-legend b`);
      charts[id].forEach(([key], i) => { values[i].textContent = count(this.store.series[key].at(-1) ?? 0); });
    }
  }
}

// drawSteals draws a row for each thief and a column for each victim.
export function drawSteals(canvas, note, text, store, lanes) {
  const n = Math.max(1, store.workers), room = Math.min(canvas.parentElement.clientWidth - 24, 420);
  const margin = 28, cell = Math.max(2, Math.min(40, Math.floor((room - margin) / n))), size = margin + n * cell + 8;
  const ratio = Math.min(2, window.devicePixelRatio || 1), c = canvas.getContext("2d");
  if (canvas.width !== Math.round(size * ratio)) {
    canvas.width = canvas.height = Math.round(size * ratio);
    canvas.style.width = `${size}px`;
    canvas.style.height = `${size}px`;
  }
  const style = getComputedStyle(document.documentElement), heat = style.getPropertyValue("--heat").trim();
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, size, size);
  c.fillStyle = lanes.place;
  c.fillRect(margin, margin, n * cell, n * cell);
  const pairs = store.pairs(), most = Math.log2(1 + (pairs[0]?.[2] ?? 0)) || 1;
  c.font = "10px system-ui, sans-serif";
  c.textAlign = "center";
  c.textBaseline = "middle";
  for (const [thief, victim, k] of pairs) {
    const part = Math.log2(1 + k) / most, x = margin + victim * cell, y = margin + thief * cell;
    c.fillStyle = `rgba(${heat}, ${.12 + .88 * part})`;
    c.fillRect(x, y, cell - (cell > 4 ? 1 : 0), cell - (cell > 4 ? 1 : 0));
    if (cell < 30) continue;
    c.fillStyle = part > .55 ? lanes.card : lanes.ink;
    c.fillText(count(k), x + cell / 2, y + cell / 2);
  }
  c.fillStyle = lanes.soft;
  const every = Math.ceil(14 / cell);
  for (let i = 0; i < n; i += every) {
    c.fillText(String(i), margin + (i + .5) * cell, margin - 8);
    c.fillText(String(i), margin - 10, margin + (i + .5) * cell);
  }
  const all = (store.stats?.Steals ?? 0) + (store.stats?.Tasks.Stolen ?? 0);
  note.textContent = `rows: thief, columns: victim; ${count(store.stolen)} seen, ${count(all)} in all`;
  text.textContent = pairs.length ? `Most: ${pairs.slice(0, 3).map(([a, b, k]) => `worker ${a} from ${b} (${count(k)})`).join(", ")}.` : "No steal has been seen.";
}
