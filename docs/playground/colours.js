// Colours of the page and of threads. Neighbours in the serial order have similar ones.

const SHADES = 60;
let dark, styles;

export function restyle() {
  dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const s = getComputedStyle(document.documentElement);
  styles = Object.fromEntries(["card", "ink", "soft", "line", "grid", "accent", "steal", "miss"].map((n) => [n, s.getPropertyValue(`--${n}`).trim()]));
  styles.threads = Array.from({ length: SHADES }, (_, i) => `oklch(${dark ? "0.5 0.1" : "0.82 0.09"} ${Math.round(20 + (320 * i) / SHADES)})`);
}

export const colours = () => styles;
export const colour = (thread, threads) => styles.threads[Math.min(SHADES - 1, Math.floor((SHADES * thread) / Math.max(threads, 6)))];

// fit gives a canvas its size, and returns its context, which counts in pixels of the page.
export function fit(canvas, width, height) {
  const ratio = Math.min(2, window.devicePixelRatio || 1), w = Math.round(width * ratio), h = Math.round(height * ratio);
  if (canvas.width !== w || canvas.height !== h) {
    canvas.width = w, canvas.height = h;
    canvas.style.height = `${height}px`;
  }
  const c = canvas.getContext("2d", { alpha: false });
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.fillStyle = styles.card;
  c.fillRect(0, 0, width, height);
  return c;
}
