// The dealer's page: boot, link, model, view.

import { identifier, openLink } from "/link.js";
import { newModel, take, tick } from "/model.js";
import { draw, drawLanguages, drawPageLost } from "/view.js";
import { WORDS } from "/words.js";

const model = newModel();
let boot = null;
let link = null;
let lang = startLanguage();

function startLanguage() {
  let kept = null;
  try {
    kept = localStorage.getItem("tabled-language");
  } catch {
    // a kiosk may forbid storage
  }
  const asked = new URLSearchParams(location.search).get("lang");
  return [asked, kept, navigator.language.slice(0, 2)].find((code) => code in WORDS) ?? "en";
}

function choose(code) {
  lang = code;
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
  const sent = link.command("answer", { request, who: "dealer", question, key });
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
  setInterval(refresh, 100);
}

start();
