// The instrument in a notebook, whose choice is synchronised with a widget that Python reads and writes.

import { createConfirmation } from "../asking/confirm.js";
import { parseMessage, toMessage } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { createInstrument } from "../explore/page/instrument.js";
import { createSavedAsk } from "../explore/page/saved-answers.js";

const PAUSE_MS = 100; // between updates of the model during a drag
const NARROW_PX = 640; // width of a cell up to which tools are closed at first
/** The traits that are query parameters of a choice. */
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
const SAVED_TEXT =
  "This notebook has Python's answer for the values it was saved with. Run the cell for others.";
const SAVED_WORDS_TEXT =
  "This notebook has the sentences for the values it was saved with. Run the cell for others.";
const KERNEL_TEXT = "Python answers this, and no kernel runs: run the cell.";

/** Mount the instrument. @type {import("./notebook.js").Mount} */
export function mountInstrument({ model, place, plotly, ask, library }) {
  place.innerHTML = library.skeleton;
  const root = /** @type {HTMLElement} */ (place.firstElementChild);
  const store = createStore();
  const link = linkModel(model, store, place.clientWidth <= NARROW_PX ? "" : "all");
  const { sections, saved, languages, notebook } = library;
  const savedSections = Object.fromEntries(saved.map((key) => [key, sections[key]]));
  const kernel = ask && {
    confirm: /** @type {import("../asking/confirm.js").CreateConfirmation} */ (
      (on) => createConfirmation({ ask, ...on })
    ),
    template: async () => /** @type {*} */ (await ask("template", {})),
    ...{ explanation: EXPLANATION, sections, languages, notebook },
  };
  const instrument = createInstrument(root, store, {
    plotly,
    ask:
      ask ??
      createSavedAsk(model.get("_answers"), store.current, { elsewhere: SAVED_TEXT, never: KERNEL_TEXT }),
    confirm: null,
    elsewhere: SAVED_WORDS_TEXT,
    sections: savedSections,
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
 * Keep the choices of a model and a store in sync.
 * @param {*} model
 * @param {import("../choice/store.js").Store} store
 * @param {string} tools the store's initial value
 */
function linkModel(model, store, tools) {
  let timer = 0;
  let writeTime = 0;
  let synced = /** @type {Record<string, *>} */ ({}); // the model's values that the store already has
  const names = [...WORDS, "_custom"];
  const events = names.map((name) => `change:${name}`).join(" ");
  const findChanges = () =>
    names.filter((name) => JSON.stringify(model.get(name)) !== JSON.stringify(synced[name]));
  const setSynced = () => (synced = Object.fromEntries(names.map((name) => [name, model.get(name)])));

  /** Read changes by Python or another view. A formula may arrive before its entry; both are read together. */
  function readModel() {
    const updates = findChanges();
    if (!updates.length) return;
    const now = store.choice
      ? toMessage(store.choice)
      : { tools, hide: [], slots: [], slow: "", training: {} };
    const set = Object.fromEntries(updates.map((name) => [name, model.get(name)]));
    const next = /** @type {*} */ ({ ...now, ...set, own: model.get("_custom") });
    try {
      const choice = parseMessage({ ...next, slots: keepSlots(next.rules, store.choice) });
      setSynced();
      store.change(choice, { origin: store.choice ? "history" : "start" });
    } catch {} // incomplete; the next change completes it
  }

  /** Write the store's changes to the model. */
  function writeModel() {
    clearTimeout(timer);
    timer = 0;
    writeTime = performance.now();
    const message = /** @type {Record<string, *>} */ (toMessage(store.current));
    const changes = WORDS.filter((name) => JSON.stringify(message[name]) !== JSON.stringify(model.get(name)));
    for (const name of changes) model.set(name, message[name]);
    setSynced();
    if (changes.length) model.save_changes();
  }

  readModel();
  const stop = store.subscribe((_choice, { phase, origin }) => {
    if (origin !== "hand") return;
    if (phase === "settled") writeModel();
    else timer ||= setTimeout(writeModel, Math.max(0, PAUSE_MS - (performance.now() - writeTime)));
  });
  const readLater = () => queueMicrotask(readModel);
  model.on(events, readLater);
  return {
    destroy() {
      stop();
      clearTimeout(timer);
      model.off(events, readLater);
    },
  };
}

/**
 * Return the colour slots of rules; rules that stay keep theirs.
 * @param {string[]} rules
 * @param {import("../choice/choice.js").Choice|null} before
 */
function keepSlots(rules, before) {
  const slots = new Map(before?.rules.map(({ key, slot }) => [key, slot]));
  const used = new Set(rules.flatMap((key) => slots.get(key) ?? []));
  const free = Array.from({ length: 6 }, (_, slot) => slot).filter((slot) => !used.has(slot));
  return rules.map((key) => slots.get(key) ?? free.shift());
}
