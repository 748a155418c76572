// Small helpers: elements without markup in strings, orders as JSON.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

export const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
export const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

/** GET or, with `order`, POST; the answer's object. Throws an Error whose message is for people. */
export async function ask(path, order) {
  let response;
  try {
    response = await fetch(path, order === undefined ? {} : {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(order),
    });
  } catch {
    throw new Error("The program does not answer. Is 'tabled calibrate --page' still running in its terminal?");
  }
  const text = await response.text();
  let answer = {};
  try { answer = JSON.parse(text); } catch { /* not JSON: an error's text */ }
  if (!response.ok) throw new Error(answer.error ?? text.trim());
  return answer;
}
