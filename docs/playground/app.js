// The page: the form, time, the keyboard and the address.

import { restyle } from "./colours.js";
import { Film } from "./film.js";
import { Panel } from "./panel.js";
import { Simulator } from "./simulator.js";
import { MOST_ZOOM, defaults, parse, requests, write } from "./state.js";

const $ = (id) => document.getElementById(id);

// Sizes at which a run can be followed step by step. Other programs have the default of filch sim.
const sizes = { chain: "60", loop: "40", bag: "100", tree: "5", fib: "9", mergesort: "200", quicksort: "200", uts: "4", nested: "8", comb: "12x30", iterative: "4x16" };
const GRAPH = "graph"; // what the menu of programs has for one that is pasted
const sample = `{"graph": {"series": [
  2,
  {"parallel": [5, {"series": [3, {"parallel": [4, 4, 4]}, 1]}, 7]},
  2
]}}`;

const simulator = new Simulator();
export let state = parse(location.hash);
export let films = [];
const panels = [];
let menu = { dags: [], schedulers: [] };
let turn = 0; // of runs: only the last one is shown
let ran = ""; // the requests whose films are shown
let playing = null;

export const run = (request) => simulator.run(request);
const end = () => Math.max(0, ...films.map((f) => f.end));

// The form.

const option = (value, text = value) => Object.assign(document.createElement("option"), { value, textContent: text });

function fill() {
  $("dag").replaceChildren(...menu.dags.map((d) => option(d.name)), option(GRAPH, "a graph…"));
  const names = menu.schedulers.map((s) => s.name);
  $("scheduler").replaceChildren(...names.map((n) => option(n)));
  $("with").replaceChildren(option("", "none"), ...names.map((n) => option(n)));
}

function toForm() {
  const at = state.dag.indexOf("="), name = at < 0 ? state.dag : state.dag.slice(0, at);
  $("dag").value = state.graph ? GRAPH : name;
  if (!state.graph) $("size").value = at < 0 ? "" : state.dag.slice(at + 1);
  $("graph").value = state.graph;
  for (const id of ["scheduler", "with", "workers", "seed", "cost"]) $(id).value = state[id];
  sections();
}

function fromForm() {
  const graph = $("dag").value === GRAPH, size = $("size").value.trim();
  state = { ...state, graph: graph ? $("graph").value : "", dag: graph ? defaults.dag : $("dag").value + (size && `=${size}`) };
  for (const id of ["scheduler", "with", "workers", "seed", "cost"]) state[id] = $(id).value.trim();
}

function sections() {
  const graph = $("dag").value === GRAPH, d = menu.dags.find((d) => d.name === $("dag").value);
  $("graph-label").hidden = !graph;
  $("size-label").hidden = graph;
  $("about").textContent = graph ? "A graph as in docs/simulator.md: numbers are steps, in series or parallel." : d ? `${d.name}: ${d.about}. Size: ${d.size}.` : "";
}

function complain(text) {
  $("problem").textContent = text.replace(/^sim: /, ""); // the package, of no interest here
  $("problem").hidden = !text;
  const field = /: the size is /.test(text) ? "size" : /^(workers|seed|steal cost):/.exec(text)?.[1];
  for (const id of ["size", "workers", "seed", "cost"]) $(id).setAttribute("aria-invalid", String(id === (field === "steal cost" ? "cost" : field)));
}

// run runs what the state says, if it is not what is shown, and shows it.
async function rerun() {
  const wanted = requests(state), key = JSON.stringify(wanted), mine = ++turn;
  if (key !== ran) {
    pause();
    $("status").textContent = "running";
    const runs = await Promise.all(wanted.map(run));
    if (mine !== turn) return; // another has been asked for since
    const wrong = runs.find((r) => r.error);
    complain(wrong ? wrong.error : "");
    $("status").textContent = wrong ? "not run" : "";
    films = wrong ? [] : runs.map((r) => new Film(r));
    ran = wrong ? "" : key;
    arrange();
    if (wrong) return;
  }
  go(state.t);
}

// arrange has a panel for each film.
function arrange() {
  while (panels.length > films.length) panels.pop().root.remove();
  while (panels.length < films.length) panels.push(new Panel($("panels"), (t) => { pause(); go(t); }));
  if (films.length === 0) $("step").textContent = "";
  films.forEach((f, i) => panels[i].show(f, menu.schedulers.find((s) => s.name === f.result.scheduler)?.about ?? ""));
}

// Time.

export function go(t) {
  state.t = Math.min(Math.max(0, t), end());
  draw();
  remember();
}

function draw() {
  if (films.length === 0 || $("panels").clientWidth === 0) return; // it is drawn when it has a width
  const all = end(), span = Math.max(1, all / state.zoom), left = Math.min(Math.max(0, state.t - span / 2), Math.max(0, all - span));
  $("time").max = all;
  $("time").value = state.t;
  $("time").setAttribute("aria-valuetext", `step ${state.t} of ${all}`);
  $("step").textContent = `step ${state.t.toLocaleString("en")} of ${all.toLocaleString("en")}`;
  $("zoom").textContent = `${state.zoom}×`;
  for (const p of panels) p.draw(state.t, left, span, playing !== null);
}

// forth and back go to the closest step at which something happens in one of the runs, or to a steal.
const forth = (thefts) => go(Math.min(end(), ...films.map((f) => f.next(state.t, thefts))));
const back = (thefts) => go(Math.max(0, ...films.map((f) => f.before(state.t, thefts))));

function pause() {
  if (playing !== null) cancelAnimationFrame(playing);
  playing = null;
  $("play").setAttribute("aria-pressed", "false");
  $("play").textContent = "Play";
}

function play() {
  if (films.length === 0) return;
  if (playing !== null) {
    pause();
    go(state.t);
    return;
  }
  $("play").setAttribute("aria-pressed", "true");
  $("play").textContent = "Pause";
  if (state.t >= end()) state.t = 0;
  let begin = null, from = state.t;
  const frame = (now) => {
    begin ??= now;
    const t = from + Math.floor((now - begin) / 1000 * Number($("speed").value));
    playing = requestAnimationFrame(frame);
    if (t >= end()) pause();
    if (t !== state.t) go(t);
  };
  $("speed").onchange = () => { begin = null, from = state.t; };
  playing = requestAnimationFrame(frame);
}

function zoom(factor) {
  state.zoom = Math.min(MOST_ZOOM, Math.max(1, state.zoom * factor));
  draw();
  remember();
}

// The address. Browsers refuse to change it often.

let remembering = null;

function remember() {
  remembering ??= setTimeout(() => {
    remembering = null;
    history.replaceState(null, "", write(state));
  }, 400);
}

async function copyLink() {
  history.replaceState(null, "", write(state));
  try {
    await navigator.clipboard.writeText(location.href);
    $("status").textContent = "the link is copied";
  } catch {
    $("status").textContent = "the address of the page is the link";
  }
}

// The keyboard.

const keys = {
  ArrowRight: () => { pause(); forth(false); }, ArrowLeft: () => { pause(); back(false); }, "]": () => { pause(); forth(true); }, "[": () => { pause(); back(true); },
  Home: () => { pause(); go(0); }, End: () => { pause(); go(end()); }, " ": play, "+": () => zoom(2), "=": () => zoom(2), "-": () => zoom(0.5), "−": () => zoom(0.5),
};

function key(e) {
  if (e.ctrlKey || e.metaKey || e.altKey || !keys[e.key] || films.length === 0) return;
  const { tagName, type } = e.target;
  if (tagName === "TEXTAREA" || tagName === "SELECT" || (tagName === "INPUT" && type !== "range")) return;
  if (e.key === " " && (tagName === "BUTTON" || tagName === "A")) return;
  e.preventDefault();
  keys[e.key]();
}

function listen() {
  document.addEventListener("keydown", key);
  const click = { first: "Home", last: "End", back: "ArrowLeft", forth: "ArrowRight", "steal-back": "[", "steal-forth": "]", play: " ", in: "+", out: "-" };
  for (const [id, k] of Object.entries(click)) $(id).addEventListener("click", keys[k]);
  $("time").addEventListener("input", () => { pause(); go(Number($("time").value)); });
  $("link").addEventListener("click", copyLink);
  const submit = (e) => {
    e.preventDefault();
    fromForm();
    if (e.target !== $("with")) state.t = 0; // a run to compare with is shown at the same step
    rerun();
  };
  $("form").addEventListener("submit", submit);
  $("form").addEventListener("change", submit);
  $("dag").addEventListener("change", (e) => {
    if (e.target.value === GRAPH) $("graph").value ||= sample;
    else $("size").value = sizes[e.target.value] ?? "";
    sections();
  });
  addEventListener("hashchange", () => {
    state = parse(location.hash);
    toForm();
    rerun();
  });
  new ResizeObserver(draw).observe($("panels"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { restyle(); draw(); });
}

restyle();
listen();
try {
  menu = await simulator.menu;
  fill();
  toForm();
  await rerun();
  document.documentElement.dataset.ready = "yes";
} catch (e) {
  complain(`The simulator does not start: ${e.message}`);
  $("status").textContent = "not loaded";
}
