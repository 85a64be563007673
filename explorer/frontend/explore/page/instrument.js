// The interactive part of the page Explore: chart, controls, cards and tabs. The page Train uses it with a training run
// in place of the curves.

import { createToolButtons } from "./calm.js";
import { createCards } from "../../cards/cards.js";
import { createBadges } from "../sections/badges.js";
import { createChecks } from "../sections/checks.js";
import { createCode } from "../sections/code.js";
import { cacheAnswers } from "../../asking/ask.js";
import { getCatalogue, explainTrainingRefusal } from "../../choice/entries.js";
import { followKey } from "../../elements/keys.js";
import { createCompare } from "../sections/compare.js";
import { createFormat } from "../sections/format.js";
import { createFormulas } from "../sections/formulas.js";
import { createMap } from "../sections/map.js";
import { createEquilibria } from "../sections/equilibria.js";
import { followColours } from "../stage/colours.js";
import { createStage } from "../stage/stage.js";
import { createStrip } from "../stage/strip.js";
import { createTable } from "../sections/table.js";
import { createTabs } from "../sections/tabs.js";
import { createSaving } from "./saving.js";

const BELOW_CHART = ["formula", "code", "data"]; // keys of sections

/**
 * Options of the interactive part of a page. ``plotly``: address of plotly.js; ``ask``: sends questions to Python;
 * ``confirm``: creates requests for torch's curves, or null; ``explanation``: text about the label that says whether
 * torch has confirmed the curves; ``elsewhere``: replaces sentences that only torch could write; ``origin``: creates a
 * remark on where checks come from; ``languages``: those of the code export, among them ``notebook``; ``words``:
 * initial sentences of a saved file; ``server``: makes addresses; ``template``: resolves to the template of a saved
 * file; ``createTraining``: creates a training run or study in place of the curves; ``carries``: whether to plot data
 * that the user has sent from a training run; ``calm``: whether further tools are closed at first; ``sizes``: whether
 * rules can be scaled to one size (true by default); ``sections``: labels by key.
 * @typedef {{plotly: string|Promise<*>, ask: import("../../asking/ask.js").Ask, confirm:
 *   import("../../asking/confirm.js").CreateConfirmation|null, explanation?: string, elsewhere?: string, origin?: () =>
 *   Element, languages?: string[], notebook?: string, words?: import("../stage/words.js").Words, server?: (path:
 *   string) => string, template?: () => Promise<*>, createTraining?: CreateTraining, carries?: boolean, calm?: boolean,
 *   sizes?: boolean, examples: import("../../cards/examples.js").Example[], sections: Object<string, string>}}
 *   InstrumentOptions
 */
/**
 * A function that creates a training run or study inside the page.
 * @typedef {(host: HTMLElement, store: import("../../choice/store.js").Store, reach: {plotly: string, server: (path:
 *   string) => string, colours: () => {rules: string[], neutral: string}, examples:
 *   import("../../cards/examples.js").Example[], onPresent: (present: import("../../cards/cards.js").Present) => void,
 *   calm?: boolean, cardOf: (slot: number) => import("../../cards/card.js").Holder|undefined}) => RefreshablePart}
 *   CreateTraining
 * @typedef {{refresh: () => void, destroy: () => void}} RefreshablePart a part of a page; ``refresh`` redraws it after
 *   a change of the page's colours
 */

/**
 * Create the chart, controls, cards and tabs of the page Explore or, with a training run instead of curves, of Train.
 * @param {HTMLElement} host @param {import("../../choice/store.js").Store} store @param {InstrumentOptions} reach
 */
export function createInstrument(host, store, reach) {
  const end = new AbortController();
  const hostOf = (/** @type {string} */ name) =>
    /** @type {HTMLElement|null} */ (host.querySelector(`.${name}`));
  const [words, chart, strip, cards, tabs, panel] = ["words", "chart", "strip", "cards", "tabs", "panel"].map(
    hostOf,
  );
  /** @type {{destroy: () => void}[]} */
  const parts = [];
  /** @type {RefreshablePart[]} */
  const refreshables = [];
  const { colours, refresh } = followColours(
    host,
    () => refreshables.forEach((part) => part.refresh()),
    end.signal,
  );
  const isTraining = host.matches(".training");
  const refuses = (
    /** @type {import("../../formula/entry.js").Op|import("../../formula/entry.js").Rule} */ entry,
  ) => (isTraining ? explainTrainingRefusal(entry) : "");
  const ask = cacheAnswers(reach.ask);
  const read = makeFormulaReader(reach.ask);
  const cardList =
    cards &&
    createCards(cards, {
      store,
      colours,
      read,
      drawn: chart !== null,
      refuses,
      onDraw: words && chart && read && ((slot) => stage?.draw?.(slot)),
    });
  if (cardList) refreshables.push(cardList);
  const { languages = [], notebook = "" } = reach;
  /** @type {ReturnType<typeof createFormulas|typeof createCode|typeof createTable>[]} */
  const below = [];
  if (panel && languages.length) {
    const toggle = () => (panel.hidden = !BELOW_CHART.includes(store.current.section));
    parts.push({ destroy: store.subscribeNow(toggle) }); // before the sections are filled: they measure their size
    const options = { store, ask, languages, notebook };
    below.push(createFormulas(panel, options), createCode(panel, options), createTable(panel, options));
    parts.push(...below);
  }
  const onCurves = (/** @type {import("../stage/stage.js").Displayed} */ displayed) =>
    below.forEach((part) => part.show(displayed));
  const stage =
    words && chart ? createStage({ words, chart }, { store, colours, read, onCurves, ...reach }) : null;
  if (stage) refreshables.push(stage);
  const { createTraining, server, plotly } = reach;
  if (isTraining && createTraining && server)
    refreshables.push(
      createTraining(host, store, {
        server,
        plotly: /** @type {string} */ (plotly),
        colours,
        examples: reach.examples,
        onPresent: (present) => cardList?.showPresent(present),
        calm: reach.calm,
        cardOf: (slot) => cardList?.cardOf(slot),
      }),
    );
  const checks = hostOf("checks");
  if (checks && stage && ask.has("checks"))
    refreshables.push(createChecks(checks, { store, colours, ask, origin: reach.origin, ...stage }));
  if (checks && cardList && below.length && ask.has("checks"))
    parts.push(createBadges({ store, ask, show: cardList.showFailing }));
  const resting = hostOf("resting");
  if (resting && stage)
    refreshables.push(createEquilibria(resting, { store, plotly, ask: reach.ask, colours }));
  const format = hostOf("format-host");
  if (format && stage) parts.push(createFormat(format, { store }));
  const compare = hostOf("compare-host");
  if (compare && ask.has("row")) parts.push(createCompare(compare, { store, ask }));
  const map = hostOf("map-host");
  if (map && ask.has("map")) refreshables.push(createMap(map, { store, ask: reach.ask }));
  if (strip) parts.push(createStrip(strip, { store, ...reach, ask }));
  if (!reach.calm) host.classList.replace("calm", "whole");
  if (tabs) parts.push(createTabs(tabs, { store, sections: reach.sections }));
  const saves = /** @type {HTMLElement|null} */ (tabs && host.querySelector(".chart-buttons .window"));
  if (saves && (reach.template || getCatalogue().saved))
    parts.push(createSaving(saves, { store, ask: reach.ask, server, template: reach.template }));
  if (tabs && reach.calm)
    parts.push(createToolButtons(host, tabs, { store, onChange: () => stage?.refresh() }));
  if (tabs && reach.calm) followKey("d", () => stage?.draw?.(), end.signal);
  if (tabs && reach.calm) followKey("r", () => stage?.reset(), end.signal);
  return {
    /** Redraw everything after a change of the page's colours. */
    refresh,
    destroy() {
      end.abort();
      [...parts, ...refreshables].forEach((part) => part.destroy());
    },
  };
}

/**
 * Return the function that has Python parse formulas, or null if the page has no Python.
 * @param {import("../../asking/ask.js").Ask} ask @returns {import("../../cards/formula-field.js").Read|null}
 */
function makeFormulaReader(ask) {
  if (!ask.has("entry")) return null;
  const read = (
    /** @type {string} */ kind,
    /** @type {string} */ text,
    /** @type {(words: string) => void} */ onWait,
  ) => ask("entry", { kind, text }, { onWait });
  const code = (/** @type {string} */ text, /** @type {(words: string) => void} */ onWait) =>
    ask("read", { code: text }, { onWait });
  return /** @type {*} */ (
    Object.assign(read, { prepare: () => ask.prepare?.("entry"), code: ask.has("read") ? code : null })
  );
}
