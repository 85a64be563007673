// The instrument: chart, strip, cards and tabs of one store, put into the hosts of the page.

import { createCalm } from "./calm.js";
import { createCards } from "../../cards/cards.js";
import { createBadges } from "../sections/badges.js";
import { createChecks } from "../sections/checks.js";
import { followTheme, themeOf } from "../../chart/plotly/theme.js";
import { catalogue, refusalOfTraining } from "../../choice/entries.js";
import { element } from "../../elements/dom.js";
import { createCompare } from "../sections/compare.js";
import { createFormat } from "../sections/format.js";
import { createMap } from "../sections/map.js";
import { createPaste } from "../sections/paste.js";
import { createResting } from "../sections/resting.js";
import { createStage } from "../stage/stage.js";
import { createStrip } from "../stage/strip.js";
import { createTabs } from "../sections/tabs.js";
import { createTakeAway, createWriting } from "./takeaway.js";

/**
 * The means of an instrument outside of it: the address of plotly.js; the source of torch's curves, with the meaning
 * of its sign; the readers of own formulas and of pasted code, of lines of checks, and of rows of the table where those alone are known; the address to save the whole at, or the function that
 * writes it; the examples; the labels of the sections by key. ``createSections`` makes the sections where there is no
 * server, ``brought`` says which checks are among the site's files, ``tell`` computes missing sentences. Null stands
 * for a missing one, as in a saved file, which has ``words`` for its start. ``createTraining`` makes the run or the
 * study of a page that has hosts for it; ``carries``: whether the page shows data carried to it; ``calm``: whether its
 * tools wait to be called; ``sizes``: whether rules can be put on one size, true where it is not said.
 * @typedef {{plotly: string, confirm: import("../../choice/confirm.js").Confirm|null, explanation?: string,
 *   tell?: import("../stage/telling.js").Tell|null, read: import("../../cards/own.js").Read|null, createSections?: CreateSections,
 *   brought?: import("../sections/checks.js").Brought,
 *   write?: import("./takeaway.js").Write,
 *   readCode: import("../sections/paste.js").ReadCode|null, readLines: import("../sections/checks.js").ReadLines|null,
 *   readRows?: import("../sections/checks.js").ReadLines,
 *   words?: import("../stage/words.js").Words,
 *   server?: (path: string) => string, createTraining?: CreateTraining, carries?: boolean, calm?: boolean, sizes?: boolean,
 *   save: string|null, examples: import("../../cards/examples.js").Example[], sections: Object<string, string>}} Reach
 */
/**
 * @typedef {(host: HTMLElement, store: import("../../choice/store.js").Store, reach: {plotly: string,
 *   server: (path: string) => string, colours: () => {rules: string[], neutral: string},
 *   examples: import("../../cards/examples.js").Example[],
 *   onPresent: (present: import("../../cards/cards.js").Present) => void, calm?: boolean,
 *   cardOf: (slot: number) => HTMLElement|undefined}) => Drawn} CreateTraining
 * @typedef {(host: HTMLElement, store: import("../../choice/store.js").Store) => {
 *   show: (displayed: import("../stage/stage.js").Displayed) => void, destroy: () => void}} CreateSections
 * @typedef {{refresh: () => void, destroy: () => void}} Drawn a part that is drawn anew when the colours
 *   change
 */

/**
 * Fill the hosts that the skeleton has: the page of a training has a run instead of curves.
 * @param {HTMLElement} host
 * @param {import("../../choice/store.js").Store} store
 * @param {Reach} reach
 */
export function createInstrument(host, store, reach) {
  let now = coloursOf(host);
  const colours = () => now;
  const hostOf = (/** @type {string} */ name) =>
    /** @type {HTMLElement|null} */ (host.querySelector(`.${name}`));
  const [words, chart, strip, cards, tabs, panel] = ["words", "chart", "strip", "cards", "tabs", "panel"].map(
    hostOf,
  );
  /** @type {{destroy: () => void}[]} */
  const parts = [];
  /** @type {Drawn[]} */
  const drawn = [];
  const trains = host.matches(".training");
  const refuses = (
    /** @type {import("../../formula/entry.js").Op|import("../../formula/entry.js").Rule} */ entry,
  ) => (trains ? refusalOfTraining(entry) : "");
  const cardList =
    cards && createCards(cards, { store, colours, read: reach.read, drawn: chart !== null, refuses });
  if (cardList) drawn.push(cardList);
  const below = panel && reach.createSections ? reach.createSections(panel, store) : null;
  if (below) parts.push(below);
  const stage =
    words && chart
      ? createStage({ words, chart }, { store, colours, onCurves: below?.show, ...reach })
      : null;
  if (stage) drawn.push(stage);
  const { createTraining, server, plotly } = reach;
  if (trains && createTraining && server)
    drawn.push(
      createTraining(host, store, {
        server,
        plotly,
        colours,
        examples: reach.examples,
        onPresent: (present) => cardList?.showPresent(present),
        calm: reach.calm,
        cardOf: (slot) => cardList?.elementOf(slot),
      }),
    );
  const show = () => (words ?? chart)?.scrollIntoView({ block: "nearest", behavior: "smooth" });
  if (panel && reach.readCode) {
    const own = below ? panel.appendChild(element("div")) : panel; // else the panel holds nothing beside it
    parts.push(createPaste(own, { store, read: reach.readCode, onShow: show }));
  }
  const checks = hostOf("checks");
  if (checks && stage && reach.readLines)
    drawn.push(
      createChecks(checks, { store, colours, read: reach.readLines, brought: reach.brought, ...stage }),
    );
  if (checks && cardList && reach.readLines)
    parts.push(
      createBadges({ store, read: reach.readLines, brought: reach.brought, show: cardList.showFailing }),
    );
  const resting = hostOf("resting");
  if (resting && stage) drawn.push(createResting(resting, { store, plotly, colours }));
  const format = hostOf("format-host");
  if (format && stage) parts.push(createFormat(format, { store }));
  const compare = hostOf("compare-host");
  const read = reach.readRows ?? reach.readLines;
  if (compare && read) parts.push(createCompare(compare, { store, read, brought: reach.brought }));
  const map = hostOf("map-host");
  if (map && stage) drawn.push(createMap(map, { store }));
  if (strip) parts.push(createStrip(strip, { store, ...reach }));
  if (!reach.calm) host.classList.remove("calm");
  if (tabs) parts.push(createTabs(tabs, { store, sections: reach.sections }));
  if (tabs && reach.save) parts.push(createTakeAway(tabs, { store, address: reach.save }));
  if (tabs && reach.write) parts.push(createWriting(tabs, { store, write: reach.write }));
  if (tabs && reach.calm) parts.push(createCalm(host, tabs, { store, onChange: () => stage?.refresh() }));
  const end = new AbortController();
  let theme = themeOf(host);
  const refresh = () => {
    theme = themeOf(host);
    now = coloursOf(host);
    drawn.forEach((part) => part.refresh());
  };
  followTheme(host, { drawnIn: () => theme, changed: refresh }, end.signal);
  return {
    /** Draw anew: the colours may have changed. */
    refresh,
    destroy() {
      end.abort();
      [...parts, ...drawn].forEach((part) => part.destroy());
    },
  };
}

/** The colours of curves on the ground that the page has now. @param {HTMLElement} host */
export function coloursOf(host) {
  const { light, dark, neutral } = catalogue().colours;
  return { neutral, rules: isDark(host) ? dark : light };
}

/** @param {HTMLElement} host */
function isDark(host) {
  const ground = getComputedStyle(host).getPropertyValue("--st-background-color").trim() || "#ffffff";
  const parts = ground.startsWith("#")
    ? ground
        .slice(1)
        .match(/../g)
        ?.map((pair) => parseInt(pair, 16))
    : ground.match(/\d+/g)?.map(Number);
  const [red, green, blue] = parts ?? [255, 255, 255];
  return 0.299 * red + 0.587 * green + 0.114 * blue < 128;
}
