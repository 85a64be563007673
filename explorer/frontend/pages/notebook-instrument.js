// The interactive chart in a notebook cell, kept in step with a widget that Python reads and writes.

import { confirmBy } from "../asking/confirm.js";
import { getCatalogue } from "../choice/entries.js";
import { parseMessage, toMessage } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { createInstrument } from "../explore/page/instrument.js";
import { createSavedAsk } from "../explore/page/saved-answers.js";

const PAUSE_MS = 50; // ms between updates of the widget during a drag
const NARROW_PX = 640; // in narrower cells, further tools are closed at first
const SAVED_TEXT =
  "Python answered this for the values that the notebook was saved with. Run the cell for others.";
const KERNEL_TEXT = "This needs Python, but no kernel is running: run the cell.";

/**
 * Show the interactive chart in a cell. Returns a function that removes it.
 * @param {import("./notebook.js").Cell} cell
 */
export function mountInstrument({ model, place, plotly, ask, library }) {
  place.innerHTML = library.skeleton;
  const root = /** @type {HTMLElement} */ (place.firstElementChild);
  const store = createStore();
  const unlink = linkModel(model, store, place.clientWidth <= NARROW_PX ? "" : "all");
  const { sections, savedSections, languages, notebook } = library;
  const { words, answers = [] } = model.get("_saved");
  const instrument = createInstrument(root, store, {
    plotly,
    ask: ask ?? createSavedAsk(answers, store.current, { elsewhere: SAVED_TEXT, never: KERNEL_TEXT }),
    confirm: ask && confirmBy(ask),
    elsewhere: SAVED_TEXT,
    ...(ask
      ? { sections, languages, notebook, template: () => ask("template", {}) }
      : { sections: savedSections }),
    calm: true,
    examples: [],
    words,
  });
  return () => {
    unlink();
    instrument.destroy();
  };
}

/**
 * Copy changes between a widget model and the chart's settings, in both directions. Returns a function that stops this.
 * @param {*} model @param {import("../choice/store.js").Store} store
 * @param {string} tools the tools that are open at first
 */
function linkModel(model, store, tools) {
  const view = getCatalogue().view.map(({ name }) => name);
  const names = ["op", "rules", "parameters", "learns", ...view.filter((name) => name !== "tools")];
  const events = [...names, "_custom"].map((name) => `change:${name}`).join(" ");
  let timer = 0;
  let synced = /** @type {Record<string, *>} */ ({}); // values that the model and the settings last had in common
  const getValues = () => Object.fromEntries([...names, "_custom"].map((name) => [name, model.get(name)]));

  /**
   * Apply changes of the widget, by Python or another view of it, to the chart's settings. A formula may arrive before
   * its definition; then both are applied together.
   */
  function readModel() {
    const values = getValues();
    const updates = pickChanges(values, synced);
    if (!Object.keys(updates).length) return;
    const before = store.choice
      ? toMessage(store.choice)
      : { tools, hide: [], slots: [], slow: "", training: {} };
    const next = { ...before, ...updates, own: values._custom, slots: keepSlots(values.rules, store.choice) };
    try {
      store.change(parseMessage(next), { origin: store.choice ? "history" : "start" });
      synced = values;
    } catch {} // incomplete until the next change arrives
  }

  function writeModel() {
    timer = 0;
    const message = /** @type {Record<string, *>} */ (toMessage(store.current));
    const values = Object.fromEntries(names.map((name) => [name, message[name]]));
    for (const [name, value] of Object.entries(pickChanges(values, synced))) model.set(name, value);
    synced = getValues();
    model.save_changes();
  }

  readModel();
  const stop = store.subscribe((_choice, { origin }) => {
    if (origin === "hand") timer ||= setTimeout(writeModel, PAUSE_MS);
  });
  const readLater = () => queueMicrotask(readModel);
  model.on(events, readLater);
  return () => {
    stop();
    clearTimeout(timer);
    model.off(events, readLater);
  };
}

/** @param {Record<string, *>} values @param {Record<string, *>} others values to compare with */
function pickChanges(values, others) {
  const differs = (/** @type {[string, *]} */ [name, value]) =>
    JSON.stringify(value) !== JSON.stringify(others[name]);
  return Object.fromEntries(Object.entries(values).filter(differs));
}

/**
 * Return colour slots for backward rules. Rules that are on the chart already keep theirs.
 * @param {string[]} rules their keys
 * @param {import("../choice/choice.js").Choice|null} before the chart's settings, or null without a chart
 */
function keepSlots(rules, before) {
  const slots = new Map(before?.rules.map(({ key, slot }) => [key, slot]));
  const used = rules.map((key) => slots.get(key));
  const free = Array.from({ length: 6 }, (_, slot) => slot).filter((slot) => !used.includes(slot));
  return used.map((slot) => slot ?? free.shift());
}
