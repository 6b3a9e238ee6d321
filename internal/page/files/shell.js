// What all pages have: the connection, the token, the theme, pauses, files, keys, and when to draw.

export const $ = (id) => document.getElementById(id);

const root = document.documentElement;
const dark = matchMedia("(prefers-color-scheme: dark)");
const remembered = () => { try { return localStorage.getItem("filch-theme"); } catch { return null; } };
root.dataset.theme = remembered() ?? (dark.matches ? "dark" : "light");

// setText sets a text if it is another, so that it is read out once.
function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// select fills the list of what is shown.
export function select(names, chosen) {
  $("pool").replaceChildren(...names.map((name, i) => new Option(name, i, false, i === chosen)));
  $("pool").disabled = names.length < 2;
}

// A Shell is a page. app has
//
//	events()    the address of the events; gone() is called if there is nothing at it
//	kinds       what takes the data of each kind of event; "hello" comes first, also in a pause
//	counts      the kind of event of which those that come in a pause are counted
//	store       with clear, snapshot and restore, which throws an Error; ready() says whether there is something to draw
//	opened()    is called when a snapshot has been restored
//	draw(now)   draws; due(now) says whether to do so though nothing is new
//	restyle()   is called after a change of the theme, and resize() after one of the window
//	keys        what keys do; ofTarget(element) has those of an element
//	filter(s)   sets the filter
//	state()     what the status says while the server is there
export class Shell {
  constructor(app) {
    this.app = app;
    this.source = null;
    this.paused = false;
    this.dirty = true;
    this.skipped = 0; // events that came in a pause
    this.file = ""; // the name of the one that is shown
    this.lost = ""; // why there are no events
    this.listen();
  }

  // start connects, with the token of the fragment, which goes to the server once, and out of the history.
  async start() {
    const given = new URLSearchParams(location.hash.slice(1)).get("token");
    if (given !== null) {
      history.replaceState(null, "", location.pathname + location.search);
      await this.giveToken(given);
    }
    this.connect();
    requestAnimationFrame((now) => this.frame(now));
  }

  // receive takes an event of the server.
  receive(kind, data) {
    const { app } = this;
    if (kind !== "hello" && (this.paused || this.file)) {
      if (kind === app.counts) this.skipped++;
      return;
    }
    app.kinds[kind](data);
    this.dirty = true;
  }

  // connect reads the events, again and again if the server goes.
  connect() {
    const { app } = this;
    this.source?.close();
    const source = this.source = new EventSource(app.events());
    for (const kind of Object.keys(app.kinds)) source.addEventListener(kind, (e) => this.receive(kind, JSON.parse(e.data)));
    source.onopen = () => { this.lost = ""; this.problem(""); this.status(); };
    source.onerror = () => {
      this.lost = "waiting for the server";
      this.status();
      if (source.readyState === EventSource.CLOSED) this.why();
    };
  }

  // why finds out why there are no events, and tries again.
  async why() {
    const { app } = this, answer = await fetch(app.events(), { method: "HEAD" }).catch(() => null);
    if (answer?.status === 401) {
      $("token").hidden = false;
      this.lost = "no token";
      this.status();
      if (!$("token").contains(document.activeElement)) $("secret").focus();
      return;
    }
    if (answer?.status === 403) return this.problem("The server refuses this page: its host is not allowed.");
    if (answer?.status === 404) app.gone?.();
    setTimeout(() => this.connect(), answer?.status === 503 ? 5000 : 1000);
  }

  async giveToken(token) {
    const answer = await fetch("token", { method: "POST", body: new URLSearchParams({ token }) }).catch(() => null);
    $("refused").textContent = answer?.ok ? "" : answer?.status === 401 ? "This is not the token." : "The server does not answer.";
    if (!answer?.ok) return false;
    $("token").hidden = true;
    $("secret").value = "";
    return true;
  }

  // status says what is shown.
  status() {
    const { app, source } = this, is = (state, text) => { setText($("status"), text); $("status").dataset.state = state; };
    if (this.file) is("paused", `file ${this.file}`);
    else if (this.paused) is("paused", "paused");
    else if (this.lost) is("lost", this.lost);
    else if (source?.readyState === EventSource.OPEN) is(...(app.state?.() ?? ["live", "live"]));
    else is("wait", "connecting");
  }

  problem(text) {
    setText($("problem"), text);
    $("problem").hidden = !text;
  }

  pause(on) {
    if (this.file && !on) { // back from a file
      this.file = "";
      this.app.store.clear();
      this.connect();
    }
    this.paused = on;
    $("pause").setAttribute("aria-pressed", String(on));
    $("pause").textContent = on ? "Go on" : "Pause";
    this.status();
    this.dirty = true;
  }

  save() {
    const url = URL.createObjectURL(new Blob([JSON.stringify(this.app.store.snapshot())], { type: "application/json" }));
    const a = Object.assign(document.createElement("a"), { href: url, download: `filch-${new Date().toISOString().slice(0, 19).replaceAll(":", "")}.json` });
    a.click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }

  async openFile(f) {
    try {
      if (f.size > 64 << 20) throw new Error("it is larger than 64 MB");
      this.app.store.restore(JSON.parse(await f.text()));
    } catch (e) {
      this.problem(`${f.name} cannot be opened: ${e.message}`);
      return;
    }
    this.problem("");
    this.file = f.name;
    this.app.opened();
    this.pause(true);
  }

  changeTheme() {
    root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("filch-theme", root.dataset.theme); } catch { /* it is not remembered */ }
    this.restyle();
  }

  // explain shows on the page what its parts are, or no more.
  explain() {
    const on = root.dataset.explained === undefined;
    if (on) root.dataset.explained = "";
    else delete root.dataset.explained;
    $("explain").setAttribute("aria-pressed", String(on));
  }

  restyle() {
    this.app.restyle();
    this.dirty = true;
  }

  filter(text) {
    if ($("filter").value !== text) $("filter").value = text;
    this.app.filter(text);
    this.dirty = true;
  }

  listen() {
    dark.addEventListener("change", () => {
      if (remembered()) return;
      root.dataset.theme = dark.matches ? "dark" : "light";
      this.restyle();
    });
    $("token").addEventListener("submit", async (e) => {
      e.preventDefault();
      if (await this.giveToken($("secret").value)) this.connect();
    });
    $("pause").addEventListener("click", () => this.pause(!this.paused));
    $("save").addEventListener("click", () => this.save());
    $("open").addEventListener("click", () => $("file").click());
    $("file").addEventListener("change", () => { if ($("file").files[0]) this.openFile($("file").files[0]); $("file").value = ""; });
    $("explain").addEventListener("click", () => this.explain());
    $("theme").addEventListener("click", () => this.changeTheme());
    $("filter").addEventListener("input", () => this.filter($("filter").value));
    addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => { this.app.resize(); this.dirty = true; }).observe(document.body);
    this.keys = {
      " ": () => this.pause(!this.paused), "/": () => $("filter").focus(), s: () => this.save(), o: () => $("open").click(), t: () => this.changeTheme(), "?": () => this.explain(),
    };
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const at = e.target, key = e.key.length === 1 ? e.key.toLowerCase() : e.key;
    if (at.matches("input, select, textarea")) {
      if (key === "Escape" && at.id === "filter") { this.filter(""); at.blur(); }
      return;
    }
    if (key === " " && at.matches("button")) return;
    if (key.startsWith("Arrow") && at.closest(".scroll")) return;
    const f = this.keys[key] ?? this.app.keys?.[key] ?? this.app.ofTarget?.(at)?.[key];
    if (!f) return;
    e.preventDefault();
    f();
    this.dirty = true;
  }

  // frame draws, once a frame at most, if there is something new.
  frame(now) {
    requestAnimationFrame((now) => this.frame(now));
    const { app } = this;
    if (!(this.dirty || app.due(now)) || !app.store.ready() || document.hidden) return;
    this.dirty = false;
    this.status();
    app.draw(now);
    root.dataset.drawn = String(Number(root.dataset.drawn ?? 0) + 1);
  }
}
