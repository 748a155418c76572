// Small tools for the DOM. Text goes in as text, never as markup.

export const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

export function el(tag, className, ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children.filter((c) => c !== null && c !== undefined));
  return made;
}

export function icon(name) {
  const shapes = {
    lock: "M7 10V7a5 5 0 0 1 10 0v3h2v12H5V10zm3 0h4V7a2 2 0 0 0-4 0z",
    check: "M9.5 20 2 12.5l3-3 4.5 4.5L19 4.5l3 3z",
    wait: "M12 2a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm1.5 4v5.4l4 2.4-1.5 2.5-5.5-3.3V6z",
    alert: "M12 2 1 22h22zm-1.5 7h3v6h-3zm0 8h3v3h-3z",
    back: "M11 4v5h3a6.5 6.5 0 0 1 0 13H6v-4h8a2.5 2.5 0 0 0 0-5h-3v5L2 11z",
  };
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", shapes[name]);
  svg.append(path);
  return svg;
}

/** Put children into a box only when what they say has changed (a live region must not repeat itself). */
const shown = new WeakMap();
export function fill(box, key, make) {
  if (shown.get(box) === key) return;
  shown.set(box, key);
  box.replaceChildren(...make());
}

/** Let the card's text be as large as the card allows, and never larger. */
const SCALES = [1.35, 1.25, 1.15, 1.07, 1, 0.94, 0.88, 0.82, 0.76, 0.7];
const fitted = new WeakMap();
const fitKey = (box) => `${shown.get(box)}/${box.clientWidth}/${box.clientHeight}/${document.body.className}`;
export function fit(box) {
  if (fitted.get(box) === fitKey(box)) return;
  const fits = (n) => {
    box.style.setProperty("--k", SCALES[n]);
    return box.scrollHeight <= box.clientHeight && box.scrollWidth <= box.clientWidth;
  };
  let [low, high] = [0, SCALES.length - 1]; // the last one is taken whether it fits or not
  while (low < high) {
    const middle = (low + high) >> 1;
    if (fits(middle)) high = middle;
    else low = middle + 1;
  }
  fits(low);
  fitted.set(box, fitKey(box));
}
