// A training in a notebook, with data from Python: held-out curves, and a lane per rule.

import { createChildren } from "../elements/children.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { coloursOf } from "../explore/page/instrument.js";
import { followTheme, themeOf } from "../chart/plotly/theme.js";
import { createTrainChart } from "../train/charts/chart.js";
import { createLane } from "../train/object/lane.js";
import { leftOf, platesOf } from "../train/object/plates.js";

const NO_SCORE_TEXT = "No score yet";

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
    const picture = model.get("picture");
    const colours = coloursOf(root).rules;
    const addColour = (/** @type {*} */ each) => ({ ...each, colour: colours[each.slot % colours.length] });
    setText(status, picture.status);
    setText(words, picture.words);
    chart.draw({
      run: model.model_id,
      scale: picture.scale,
      steps: picture.steps,
      series: picture.series.map((/** @type {*} */ each) => ({
        ...addColour(each),
        name: each.label,
        ...(each.faint ? {} : { meta: each.rule, ends: true }),
        y: each.y.map((/** @type {number|null} */ value) => value ?? NaN),
        spread: each.spread.map((/** @type {number|null} */ value) => value ?? NaN),
      })),
      words: [
        picture.status,
        ...picture.lanes.map((/** @type {*} */ { label, score }) => `${label}: ${score}`),
      ].join(". "),
      empty: NO_SCORE_TEXT,
      legend: picture.scale.banded ? "mean ± SD over seeds" : "",
    });
    const plates = Math.max(
      0,
      ...picture.lanes.map((/** @type {*} */ { way }) => (way ? 2 * Math.min(way.reached.length, 3) - 1 : 0)),
    );
    root.style.setProperty(
      "--columns",
      `minmax(5.5rem, 1.4fr)${" minmax(0.6rem, 0.55fr) minmax(0, 1fr)".repeat(plates + 1)}`,
    );
    lanes.show(
      picture.lanes.map((/** @type {*} */ each) => ({ ...addColour(each), perExample: picture.perExample })),
    );
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

/** Create the card of a rule with its lane. @param {*} first */
function createLaneCard({ label }) {
  const lane = createLane(() => undefined);
  const top = element("div", { class: "top" }, element("h2", {}, label));
  const card = element("div", { class: "card rule", role: "group", "aria-label": label }, top, ...lane.nodes);
  return {
    element: card,
    /** Update the lane. @param {*} shown */
    show({ rule, colour, score, said, way, perExample }) {
      setAttribute(card, "style", `--colour: ${colour}; border-color: ${colour}`);
      lane.show({
        slot: 0,
        line: { key: rule, label, colour },
        said,
        score,
        why: null,
        ...(way ? wayOf(way, perExample) : NO_WAY),
      });
    },
  };
}

const NO_WAY = { plates: [], bands: [] };

/**
 * Return the plates and bands of a lane: the remaining gradient by layer in backward, and weights that get none.
 * @param {{passed: number[], reached: number[], moved: number[]}} way
 * @param {boolean} perExample
 */
function wayOf({ passed, reached, moved }, perExample) {
  const plates = platesOf(reached.length, false);
  const left = leftOf(plates, passed, perExample);
  return {
    plates: plates.slice(1, -1).map((plate) => {
      const still = plate.kind === "weights" && reached[plate.layer] === 0 && moved[plate.layer] === 0;
      const name =
        { weights: `w${plate.layer + 1}`, fold: `+ ${plate.folded} layers` }[
          /** @type {string} */ (plate.kind)
        ] ?? "";
      return { plate, words: [name, still ? "still" : ""].filter(Boolean), still, sees: null };
    }),
    bands: left.slice(1).map((share) => ({
      left: share,
      known: true,
      text: share === null ? "" : `× ${Number(share.toPrecision(2))}`,
    })),
  };
}
