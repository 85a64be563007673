// A training run or a race in a notebook cell, which Python draws while it runs.

import { element, setText } from "../elements/dom.js";
import { followColours } from "../explore/stage/colours.js";
import { listPlates } from "../train/object/plates.js";
import { makeBands, makeLanePlate } from "../train/object/view-model.js";
import { createSmallPicture } from "../train/page/small-picture.js";
import { decodeArrays } from "../train/state/series.js";

const NO_STATE = /** @type {*} */ ({});

/**
 * Show a training run in a notebook cell. Returns a function that removes it.
 * @param {import("./notebook.js").Cell} cell
 */
export function mountTraining({ model, place, plotly }) {
  const status = element("div", { class: "status", role: "status" });
  const { root, ...small } = createSmallPicture(element("div", { class: "bar" }, status), plotly);
  const end = new AbortController();
  place.append(root);
  const { colours } = followColours(root, show, end.signal);

  function show() {
    const { heading, words, lanes: rules, current, ...picture } = decodeArrays(model.get("picture"));
    const { rules: palette } = colours();
    setText(status, picture.status);
    const lanes = rules.map((/** @type {*} */ { rule: key, label, ...lane }, /** @type {number} */ slot) => ({
      ...{ ...lane, slot, before: "", line: { key, label, colour: palette[slot] } },
      ...makeWay(lane.way, picture.perExample),
    }));
    const series = lanes.map((/** @type {*} */ { line: { key, label, colour }, x, y, low, high }) => ({
      ...{ name: label, rule: key, meta: key, ends: true, colour, x, y, low, high },
    }));
    if (current) series.unshift({ ...current, name: "", colour: palette[current.slot], faint: true });
    const scores = lanes.map((/** @type {*} */ { line, score }) => `${line.label}: ${score}`);
    const spoken = [picture.status, ...scores].join(". ");
    const chart = {
      ...picture,
      run: model.model_id,
      series,
      words: spoken,
      empty: "No score yet",
      legend: "",
    };
    small.show({ heading, words, lanes, chart });
  }

  model.on("change:picture", show);
  show();
  return () => {
    model.off("change:picture", show);
    end.abort();
    small.destroy();
  };
}

/**
 * Return the drawing of a rule's backward pass as data, empty without a measurement.
 * @param {*} way a measurement by the instrument "way", or null
 * @param {boolean} isBetweenLayers whether the op is between layers, not on weights
 */
function makeWay(way, isBetweenLayers) {
  if (!way) return { plates: [], bands: [] };
  const all = listPlates(way.reached.length, false);
  const plates = all.slice(1, -1).map((plate) => makeLanePlate(NO_STATE, NO_STATE, null, way, plate, []));
  return { plates, bands: makeBands(way, all, isBetweenLayers) };
}
