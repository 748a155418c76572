// The dealer's page: boot, link, model, view.

import { identifier, openLink } from "/link.js";
import { newModel, take, tick } from "/model.js";
import { draw, drawLanguages, drawPageLost } from "/view.js";
import { WORDS } from "/words.js";

const model = newModel();
let boot = null;
let link = null;
let picked = chosen();
let lang = picked ?? here() ?? "en";

/** What this browser was told to speak: by the address, or by a click some time ago. */
function chosen() {
  let kept = null;
  try {
    kept = localStorage.getItem("tabled-language");
  } catch {
    // a kiosk may forbid storage
  }
  const asked = new URLSearchParams(location.search).get("lang");
  return [asked, kept].find((code) => code in WORDS) ?? null;
}

/** The browser's own language; only until the table's is known. */
function here() {
  const code = navigator.language.slice(0, 2);
  return code in WORDS ? code : null;
}

function choose(code) {
  picked = lang = code;
  try {
    localStorage.setItem("tabled-language", code);
  } catch {
    // then the choice lasts until the page is loaded again
  }
  drawLanguages(lang, choose);
  refresh();
}

function answer(question, key) {
  const request = identifier();
  const sent = link !== null && link.command("answer", { request, who: "dealer", question, key });
  model.answer = { request, question, key, at: performance.now(), status: sent ? "sent" : "silent", why: "" };
  refresh();
}

function refresh() {
  const now = performance.now();
  tick(model, now);
  if (boot) draw(model, boot, lang, now, answer);
}

/** One drawing a frame, however many messages came in it. */
let due = false;
function soon() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    refresh();
  });
}

async function start() {
  drawLanguages(lang, choose);
  while (!boot) {
    try {
      boot = await (await fetch("/boot.json")).json();
    } catch {
      drawPageLost(lang);
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
  if (picked === null && boot.language in WORDS) lang = boot.language;
  drawLanguages(lang, choose);
  setInterval(refresh, 100);
  if (!boot.ws_url) {
    model.noAddress = true;
    return;
  }
  link = openLink(boot, {
    up() {
      Object.assign(model, { linked: true, everLinked: true, refused: false, startedAt: performance.now(), beatAt: null });
      refresh();
    },
    down() {
      model.linked = false;
      refresh();
    },
    refused() {
      model.refused = true;
      refresh();
    },
    message(leaf, event, retained) {
      take(model, leaf, event, { retained, now: performance.now(), wall: Date.now() });
      soon();
    },
  });
}

start();
