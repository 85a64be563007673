// The instrument in a notebook: its choice is that of a widget, which Python reads and writes.

import { createConfirmation } from "../asking/confirm.js";
import { parseMessage, toMessage } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { createInstrument } from "../explore/page/instrument.js";
import { createSavedAsk } from "../explore/page/saved-answers.js";

const PAUSE_MS = 100; // between two reports to Python while a hand moves
const NARROW = 640; // px of a cell in which tools wait to be called
/** The traits that are words of a choice. */
const WORDS = [
  "op",
  "rules",
  "parameters",
  "range",
  "g",
  "learns",
  "f",
  "layer",
  "noise",
  "noise_width",
  "section",
];
const EXPLANATION =
  "The browser draws every curve at once, so that it follows your hand. Once you rest, torch computes the same curves " +
  "in the notebook's kernel, and its values take their place: then they are confirmed.";
const ELSEWHERE =
  "This notebook has Python's answer for the values it was saved with. Run the cell for others.";
const WORDS_ELSEWHERE =
  "This notebook has the sentences for the values it was saved with. Run the cell for others.";
const PYTHONS = "Python answers this, and no kernel runs: run the cell.";

/** @type {import("./notebook.js").Mount} */
export function mountInstrument({ model, place, plotly, ask, library }) {
  place.innerHTML = library.skeleton;
  const whole = /** @type {HTMLElement} */ (place.firstElementChild);
  const store = createStore();
  const link = linkModel(model, store, place.clientWidth <= NARROW ? "" : "all");
  const { sections, saved, languages, notebook } = library;
  const without = Object.fromEntries(saved.map((key) => [key, sections[key]]));
  const kernel = ask && {
    confirm: /** @type {import("../asking/confirm.js").Confirm} */ (
      (on) => createConfirmation({ ask, ...on })
    ),
    template: async () => /** @type {*} */ (await ask("template", {})),
    ...{ explanation: EXPLANATION, sections, languages, notebook },
  };
  const instrument = createInstrument(whole, store, {
    plotly,
    ask:
      ask ?? createSavedAsk(model.get("_answers"), store.current, { elsewhere: ELSEWHERE, never: PYTHONS }),
    confirm: null,
    elsewhere: WORDS_ELSEWHERE,
    sections: without,
    ...kernel,
    calm: true,
    examples: [],
    words: model.get("_words"),
  });
  return {
    destroy() {
      link.destroy();
      instrument.destroy();
    },
  };
}

/**
 * Have the choices of a model and of a store follow each other.
 * @param {*} model
 * @param {import("../choice/store.js").Store} store
 * @param {string} tools of the store at first
 */
function linkModel(model, store, tools) {
  let timer = 0;
  let reported = 0;
  let known = /** @type {Record<string, *>} */ ({}); // the values of the model that the store has
  const names = [...WORDS, "_own"];
  const events = names.map((name) => `change:${name}`).join(" ");
  const changed = () =>
    names.filter((name) => JSON.stringify(model.get(name)) !== JSON.stringify(known[name]));
  const take = () => (known = Object.fromEntries(names.map((name) => [name, model.get(name)])));

  /** What Python or another view has set; a formula comes before its entry, and is taken with it. */
  function follow() {
    const others = changed();
    if (!others.length) return;
    const now = store.choice
      ? toMessage(store.choice)
      : { tools, hide: [], slots: [], slow: "", training: {} };
    const set = Object.fromEntries(others.map((name) => [name, model.get(name)]));
    const next = /** @type {*} */ ({ ...now, ...set, own: model.get("_own") });
    try {
      const choice = parseMessage({ ...next, slots: keepSlots(next.rules, store.choice) });
      take();
      store.change(choice, { origin: store.choice ? "history" : "start" });
    } catch {} // until the rest of it has come
  }

  function report() {
    clearTimeout(timer);
    timer = 0;
    reported = performance.now();
    const sent = /** @type {Record<string, *>} */ (toMessage(store.current));
    const moved = WORDS.filter((name) => JSON.stringify(sent[name]) !== JSON.stringify(model.get(name)));
    for (const name of moved) model.set(name, sent[name]);
    take();
    if (moved.length) model.save_changes();
  }

  follow();
  const stop = store.subscribe((_choice, { phase, origin }) => {
    if (origin !== "hand") return;
    if (phase === "settled") report();
    else timer ||= setTimeout(report, Math.max(0, PAUSE_MS - (performance.now() - reported)));
  });
  const later = () => queueMicrotask(follow);
  model.on(events, later);
  return {
    destroy() {
      stop();
      clearTimeout(timer);
      model.off(events, later);
    },
  };
}

/** The colours of rules: those that stay keep theirs. @param {string[]} rules @param {import("../choice/choice.js").Choice|null} before */
function keepSlots(rules, before) {
  const had = new Map(before?.rules.map(({ key, slot }) => [key, slot]));
  const taken = new Set(rules.flatMap((key) => had.get(key) ?? []));
  const free = Array.from({ length: 6 }, (_, slot) => slot).filter((slot) => !taken.has(slot));
  return rules.map((key) => had.get(key) ?? free.shift());
}
