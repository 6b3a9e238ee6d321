// A chart of lines in time, by uPlot.

import { count } from "./text.js";

/* global uPlot */

const WHOLE = Array.from({ length: 9 }, (_, i) => [1, 2, 5].map((n) => n * 10 ** i)).flat(); // steps of an axis of numbers of tasks

const clock = (s) => new Date(s * 1000).toTimeString().slice(0, 8);

// colour returns a colour of the theme.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export class Plot {
  // id is that of the element; its legend has the same with "-legend". logs says that the axis is of logarithms, to the base ten, of 1 and the value.
  constructor(id, { logs = false } = {}) {
    this.box = document.getElementById(id);
    this.legend = document.getElementById(`${id}-legend`);
    this.logs = logs;
  }

  // show shows lines, each with its label, its colour and its values, over times in seconds since 1970. What is null is not known.
  show(t, lines) {
    const key = JSON.stringify(lines.map((l) => [l.label, l.colour]));
    const log = (v) => v === null ? null : Math.log10(1 + v);
    const data = [t, ...lines.map((l) => this.logs ? l.values.map(log) : l.values)];
    if (key === this.key) this.plot.setData(data);
    else this.build(lines, data);
    this.key = key;
    const values = this.legend.querySelectorAll("b");
    lines.forEach((l, i) => { const now = l.values.at(-1) ?? null; values[i].textContent = now === null ? "–" : count(now); });
  }

  build(lines, data) {
    this.plot?.destroy();
    const axis = { stroke: colour("soft"), grid: { stroke: colour("grid"), width: 1 }, ticks: { show: false }, font: "11px system-ui, sans-serif" };
    const logs = { incrs: [1], space: 15, values: (_, all) => all.map((v) => count(v && 10 ** v)) };
    this.plot = new uPlot({
      width: this.box.clientWidth || 300, height: 170, legend: { show: false }, padding: [8, 26, 0, 0], cursor: { y: false, drag: { x: false, y: false } },
      series: [{}, ...lines.map((l) => ({ label: l.label, stroke: colour(l.colour), width: 1.5, points: { show: false } }))],
      axes: [
        { ...axis, size: 24, space: 70, incrs: [1, 2, 5, 10, 15, 30, 60], values: (_, all) => all.map(clock) },
        { ...axis, size: 52, ...(this.logs ? logs : { incrs: WHOLE, values: (_, all) => all.map(count) }) },
      ],
      scales: { y: { range: (_, low, high) => [0, Math.max(1, high * 1.08)] } },
    }, data, this.box);
    this.legend.replaceChildren(...lines.map((l) => {
      const li = document.createElement("li"), key = document.createElement("span"), name = document.createElement("span");
      key.className = "key thin";
      key.style.background = colour(l.colour);
      name.className = "label";
      name.textContent = name.title = l.label;
      li.append(key, name, " ", document.createElement("b"));
      return li;
    }));
  }

  // restyle makes the next show draw all anew.
  restyle() { this.key = null; }

  resize() {
    const width = this.box.clientWidth;
    if (this.plot && width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: 170 });
  }
}
