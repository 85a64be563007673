// A training run in a notebook cell: curves of held-out scores, and a drawing of the net for each backward rule.

import { createChildren } from "../elements/children.js";
import { element, setText } from "../elements/dom.js";
import { getCurveColours } from "../explore/stage/colours.js";
import { followTheme, readHostTheme } from "../chart/plotly/theme.js";
import { createTrainChart } from "../train/charts/chart.js";
import { createLaneCard } from "../train/object/lane.js";
import { formatGridColumns } from "../train/object/object.js";
import { listPlates } from "../train/object/plates.js";
import { makeBands, makeLanePlate } from "../train/object/view-model.js";
import { decodeArrays } from "../train/state/series.js";

const NO_STATE = /** @type {*} */ ({});

/** Show the progress of a training run in a notebook cell. @param {import("./notebook.js").Cell} cell */
export function mountTraining({ model, place, plotly }) {
  const status = element("p", { class: "watch-status", role: "status" });
  const words = element("p", { class: "watch-words" });
  const curves = element("div", { class: "curves" });
  const cards = element("div", { class: "cards" });
  const object = element("div", { class: "object" }, cards);
  const root = element("div", { class: "instrument training lab watch" }, status, curves, object, words);
  place.append(root);
  const chart = createTrainChart(curves, { plotly, onPoint: () => undefined });
  const lanes = createChildren(cards, createLaneCard, ({ line }) => line.key);
  const end = new AbortController();
  let theme = readHostTheme(root);
  followTheme(root, { drawnIn: () => theme, changed: show }, end.signal);

  function show() {
    theme = readHostTheme(root);
    const { lanes: rules, current, ...picture } = decodeArrays(model.get("picture"));
    const colours = getCurveColours(root).rules;
    setText(status, picture.status);
    setText(words, picture.words);
    const shown = rules.map((/** @type {*} */ { rule, label, ...lane }, /** @type {number} */ slot) => ({
      ...{ ...lane, slot, line: { key: rule, label, colour: colours[slot] } },
      ...makeWay(lane.way, picture.perExample),
    }));
    const series = shown.map((/** @type {*} */ { line: { key, label, colour }, x, y, spread }) => ({
      ...{ name: label, label, rule: key, meta: key, ends: true, colour, x, y, spread },
    }));
    if (current) series.unshift({ ...current, name: "", colour: colours[current.slot], faint: true });
    const scores = rules.map((/** @type {*} */ { label, score }) => `${label}: ${score}`);
    chart.draw({
      ...picture,
      run: model.model_id,
      series,
      words: [picture.status, ...scores].join(". "),
      empty: "No score yet",
      legend: picture.scale.banded ? "mean ± SD over seeds" : "",
    });
    const plates = shown.map((/** @type {*} */ lane) => lane.plates.length);
    root.style.setProperty("--columns", formatGridColumns(Math.max(...plates) + 2));
    lanes.show(shown);
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

/**
 * Describe how a rule's gradient passes through the net's layers, as data for a drawing. It has no measurements for
 * null.
 * @param {*} way the measured backward pass
 * @param {boolean} isBetweenLayers whether the op is between layers, rather than on weights
 */
function makeWay(way, isBetweenLayers) {
  if (!way) return { plates: [], bands: [] };
  const all = listPlates(way.reached.length, false);
  const plates = all.slice(1, -1).map((plate) => makeLanePlate(NO_STATE, NO_STATE, null, way, plate, []));
  return { plates, bands: makeBands(way, all, isBetweenLayers) };
}
