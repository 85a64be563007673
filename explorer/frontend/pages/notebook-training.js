// A training in a notebook, with data from Python: held-out curves, and a lane per rule.

import { createChildren } from "../elements/children.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { coloursOf } from "../explore/page/instrument.js";
import { followTheme, themeOf } from "../chart/plotly/theme.js";
import { createTrainChart } from "../train/charts/chart.js";
import { createLane } from "../train/object/lane.js";
import { columnsOf } from "../train/object/object.js";
import { platesOf } from "../train/object/plates.js";
import { makeBands, makeLanePlate } from "../train/object/view-model.js";

const NO_SCORE_TEXT = "No score yet";
const NO_STATE = /** @type {*} */ ({});

/** Mount the training. @type {import("./notebook.js").Mount} */
export function mountTraining({ model, place, plotly }) {
  const status = element("p", { class: "watch-status", role: "status" });
  const words = element("p", { class: "watch-words" });
  const curves = element("div", { class: "curves" });
  const cards = element("div", { class: "cards" });
  const root = element("div", { class: "instrument training lab watch" }, status, curves, cards, words);
  place.append(root);
  const chart = createTrainChart(curves, { plotly, onPoint: () => undefined });
  const lanes = createChildren(cards, createLaneCard, ({ rule }) => rule);
  const end = new AbortController();
  let theme = themeOf(root);
  followTheme(root, { drawnIn: () => theme, changed: show }, end.signal);

  function show() {
    theme = themeOf(root);
    const { series, lanes: rules, ...picture } = model.get("picture");
    const colours = coloursOf(root).rules;
    const addColour = (/** @type {*} */ item) => ({ ...item, colour: colours[item.slot % colours.length] });
    setText(status, picture.status);
    setText(words, picture.words);
    const scores = rules.map((/** @type {*} */ { label, score }) => `${label}: ${score}`);
    chart.draw({
      ...picture,
      run: model.model_id,
      series: series.map((/** @type {*} */ line) => ({
        ...addColour(line),
        ...(line.faint ? {} : { meta: line.rule, ends: true }),
        name: line.label,
        y: toNumbers(line.y),
        spread: toNumbers(line.spread),
      })),
      words: [picture.status, ...scores].join(". "),
      empty: NO_SCORE_TEXT,
      legend: picture.scale.banded ? "mean ± SD over seeds" : "",
    });
    const wayLanes = rules.map((/** @type {*} */ lane) => ({
      ...addColour(lane),
      ...makeWay(lane.way, picture.perExample),
    }));
    const plates = wayLanes.map((/** @type {*} */ lane) => lane.plates.length);
    root.style.setProperty("--columns", columnsOf(Math.max(...plates) + 2));
    lanes.show(wayLanes);
  }

  model.on("change:picture", show);
  show();
  return {
    destroy() {
      model.off("change:picture", show);
      end.abort();
      chart.destroy();
    },
  };
}

/** Return numbers from JSON, with NaN for null. @param {(number|null)[]} values */
function toNumbers(values) {
  return values.map((value) => value ?? NaN);
}

/**
 * Return the plates and bands of a lane, none without measurements.
 * @param {*} way the measured backward pass, or null
 * @param {boolean} isBetweenLayers whether the op is between layers
 */
function makeWay(way, isBetweenLayers) {
  if (!way) return { plates: [], bands: [] };
  const all = platesOf(way.reached.length, false);
  const plates = all.slice(1, -1).map((plate) => makeLanePlate(NO_STATE, NO_STATE, null, way, plate, []));
  return { plates, bands: makeBands(way, all, isBetweenLayers) };
}

/** Create the card of a rule with its lane. @param {*} first */
function createLaneCard({ label }) {
  const lane = createLane(() => undefined);
  const top = element("div", { class: "top" }, element("h2", {}, label));
  const card = element("div", { class: "card rule", role: "group", "aria-label": label }, top, ...lane.nodes);
  return {
    element: card,
    /** Update the lane. @param {*} shown */
    show({ rule, colour, ...shown }) {
      setAttribute(card, "style", `--colour: ${colour}; border-color: ${colour}`);
      lane.show({ ...shown, slot: 0, line: { key: rule, label, colour }, why: null });
    },
  };
}
