// What the page shows, as the fields of the form and as the fragment of its address.

export const defaults = { dag: "fib=9", graph: "", scheduler: "child", with: "", workers: "4", seed: "1", cost: "1", t: 0, zoom: 1 };

// parse reads a fragment. What it does not say has its default.
export function parse(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, "")), state = { ...defaults };
  for (const name of Object.keys(defaults)) {
    if (!fields.has(name)) continue;
    const text = fields.get(name);
    state[name] = typeof defaults[name] === "number" ? Math.max(0, Math.floor(Number(text)) || 0) : text;
  }
  state.zoom = Math.min(MOST_ZOOM, Math.max(1, state.zoom));
  return state;
}

export const MOST_ZOOM = 1 << 16;

// write returns the fragment of a state. What it always has is what names the run and the step.
export function write(state) {
  const fields = new URLSearchParams();
  for (const name of state.graph ? ["graph"] : ["dag"]) fields.set(name, state[name]);
  fields.set("scheduler", state.scheduler);
  if (state.with) fields.set("with", state.with);
  for (const name of ["workers", "seed"]) fields.set(name, state[name]);
  if (state.cost !== defaults.cost) fields.set("cost", state.cost);
  fields.set("t", state.t);
  if (state.zoom !== 1) fields.set("zoom", state.zoom);
  return `#${fields}`;
}

// requests returns what to ask the simulator for.
export function requests(state) {
  const { dag, graph, workers, seed, cost } = state;
  return [state.scheduler, state.with].filter(Boolean).map((scheduler) => ({ dag, graph, scheduler, workers, seed, cost }));
}
