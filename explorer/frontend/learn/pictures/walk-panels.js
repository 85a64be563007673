// Two panels about the training of one random unit, which outputs 1 with probability p: the loss over p, and p over the
// steps of training runs.

import { h, render } from "../../elements/render.js";
import { shape } from "../../elements/svg.js";
import { clampTo } from "../../formula/numbers.js";
import { evaluateLoss, evaluateMeanLoss, sigmoid } from "./walk.js";

/** @import { Measured, Settings, StochasticUnit } from "./walk.js" */
/**
 * A point of a panel, in fractions of its width and height from the lower left corner.
 * @typedef {[number, number]} Point
 */

const CURVE = 48; // line segments of the parabola
const MARGIN = { left: 2.4, right: 0.8, top: 0.6, bottom: 2.2 }; // margins of a panel in em
const MAX_LENGTH = 0.25; // longest arrow, as a fraction of the panel's width
const MIN_GRADIENT = 0.02; // if all gradients are smaller than this, no arrow is the longest
// SVG attributes of lines, by the words with which ``drawLine`` describes their look; the style sheet has colours.
const LOOKS = /** @type {Record<string, Record<string, string|number>>} */ ({
  axis: { "stroke-opacity": 0.5 },
  faint: { "stroke-opacity": 0.2 },
  parabola: { "stroke-opacity": 0.55, "stroke-dasharray": "4 3" },
  exact: { "stroke-width": 2 },
  dashed: { "stroke-dasharray": "7 4" },
  mean: { "stroke-width": 3 },
  spread: { "stroke-width": "0.8em", "stroke-opacity": 0.2 },
  draw: { "stroke-opacity": 0.6 },
  run: { "stroke-opacity": 0.35 },
});

/** @param {string} kind its CSS class */
function createPanel(kind) {
  const picture = shape("svg", { class: kind, "aria-hidden": "true" });
  const box = { left: 0, top: 0, width: 0, height: 0, em: 16 };
  let parts = /** @type {import("../../elements/render.js").Part[]} */ ([]);

  /** @param {Point} point */
  const toPosition = ([x, y]) =>
    `${(box.left + x * box.width).toFixed(1)} ${(box.top + (1 - y) * box.height).toFixed(1)}`;

  /** @param {string} look words of ``LOOKS``, which are also CSS classes */
  const toAttributes = (look) =>
    Object.assign({ class: look }, ...look.split(" ").map((word) => LOOKS[word]));

  return {
    element: picture,
    /** Begin a new drawing, in the panel's present size. */
    begin() {
      const { width, height } = picture.getBoundingClientRect();
      const em = parseFloat(getComputedStyle(picture).fontSize);
      const { left, right, top, bottom } = MARGIN;
      Object.assign(box, { em, left: left * em, top: top * em });
      box.width = Math.max(width - (left + right) * em, 1);
      box.height = Math.max(height - (top + bottom) * em, 1);
      parts = [];
    },
    /** Show what was drawn, in the order in which it was drawn. */
    show: () => render(picture, parts),
    /** @param {number} x position in px */
    across: (x) => (x - picture.getBoundingClientRect().left - box.left) / box.width,
    /** @param {string} look @param {Point[]} points */
    drawLine(look, points) {
      const d = points.length ? `M${points.map(toPosition).join("L")}` : "";
      parts.push(h("path", { ...toAttributes(look), d }));
    },
    /** @param {string} look @param {Point} point @param {number} radius in em */
    drawDot(look, [x, y], radius) {
      const place = { cx: box.left + x * box.width, cy: box.top + (1 - y) * box.height };
      parts.push(h("circle", { class: look, ...place, r: radius * box.em }));
    },
    /**
     * @param {string} text @param {Point} point
     * @param {{anchor?: string, by?: [number, number]}} [place] ``by``: offset to the right and upwards, in em
     */
    drawText(text, [x, y], { anchor = "middle", by: [right, up] = [0, 0] } = {}) {
      const place = {
        x: box.left + x * box.width + right * box.em,
        y: box.top + (1 - y) * box.height - up * box.em,
      };
      parts.push(h("text", { class: "label", ...place, "text-anchor": anchor }, text));
    },
  };
}

/**
 * @param {ReturnType<typeof createPanel>} panel @param {[number, string][]} ticks position in the panel, and label
 * @param {string} title
 */
function drawAxis(panel, ticks, title) {
  panel.drawLine("axis", [
    [0, 0],
    [1, 0],
  ]);
  for (const [at, text] of ticks) panel.drawText(text, [at, 0], { by: [0, -1] });
  panel.drawText(title, [0.5, 0], { by: [0, -2] });
}

/** Create the panel with the mean loss of a random unit over its probability p. @param {StochasticUnit} unit */
export function createLossPanel(unit) {
  const panel = createPanel("walker-loss");
  return {
    element: panel.element,
    across: panel.across,
    /**
     * Draw the loss, the current p, and the steps that a gradient estimator would take from there.
     * @param {Settings} settings @param {Measured} measured
     * @param {number} largest the largest |mean| of all estimators
     * @param {number[]} estimates the estimated gradients, by the first random number of each run
     * @param {number[]} rests p at which the mean estimate is 0
     */
    draw(settings, measured, largest, estimates, rests) {
      panel.begin();
      drawAxis(panel, HALVES, "p, and y where it is 0 or 1");
      const y = Array.from({ length: CURVE + 1 }, (_, i) => i / CURVE);
      const loss = evaluateLoss(unit, y, settings);
      const top = Math.max(...loss, MIN_GRADIENT) * 1.6;
      const toHeight = (/** @type {number} */ value) => value / top;
      panel.drawLine(
        "parabola",
        y.map((each, i) => [each, toHeight(loss[i])]),
      );
      const [zero, one] = [loss[0], loss[CURVE]].map(toHeight);
      panel.drawLine("exact", [
        [0, zero],
        [1, one],
      ]);
      panel.drawDot("end", [0, zero], 0.3);
      panel.drawDot("end", [1, one], 0.3);
      panel.drawText("loss", [0.02, zero], { anchor: "start", by: [0.6, -1.5] });
      panel.drawText("mean loss", [1, one], { anchor: "end", by: [-0.6, 1.1] });
      const ball = /** @type {Point} */ ([
        settings.p,
        toHeight(evaluateMeanLoss(unit, settings.p, settings)),
      ]);
      drawStep(panel, ball, measured, MAX_LENGTH / Math.max(MIN_GRADIENT, largest), estimates);
      panel.drawLine("rest", rests.slice(0, 1).flatMap(makeFoot));
      panel.drawText(rests.length ? "rests" : "", [rests[0] ?? 0, 0.06], { by: [0, 0.2] });
      panel.show();
    },
  };
}

/** @type {[number, string][]} */
const HALVES = [
  [0, "0"],
  [0.5, "0.5"],
  [1, "1"],
];

/** @param {number} p @returns {Point[]} */
const makeFoot = (p) => [
  [p, 0.05],
  [p - 0.015, 0],
  [p + 0.015, 0],
  [p, 0.05],
];

/**
 * Draw the current p as a ball, with arrows for the next step by various gradients.
 * @param {ReturnType<typeof createPanel>} panel @param {Point} ball @param {Measured} measured
 * @param {number} scale fraction of the panel's width for a gradient of 1 @param {number[]} estimates
 */
function drawStep(panel, [p, height], { mean, sd, exact }, scale, estimates) {
  const toX = (/** @type {number} */ gradient) => p - scale * gradient;
  const toClampedX = (/** @type {number} */ gradient) => clampTo(toX(gradient), 0, 1);
  const [above, high] = [height + 0.14, height + 0.24];
  const hasMean = Number.isFinite(mean);
  const spread = hasMean && Number.isFinite(sd) ? [toClampedX(mean + sd), toClampedX(mean - sd)] : [];
  panel.drawLine(
    "spread",
    spread.map((x) => [x, above]),
  );
  estimates.forEach((estimate, i) => {
    const x = toX(estimate);
    const tick = /** @type {Point[]} */ ([
      [x, above - 0.025],
      [x, above + 0.025],
    ]);
    panel.drawLine("draw", x >= 0 && x <= 1 ? tick : []);
  });
  panel.drawLine("exact", makeArrow(p, toClampedX(exact), high));
  panel.drawLine("mean", hasMean ? makeArrow(p, toClampedX(mean), above) : []);
  panel.drawDot("ball", [p, height], 0.5);
}

/** @param {number} from @param {number} to @param {number} height @returns {Point[]} */
function makeArrow(from, to, height) {
  const direction = Math.sign(to - from);
  const back = to - direction * Math.min(0.025, Math.abs(to - from));
  return [
    [from, height],
    [to, height],
    [back, height + 0.03],
    [to, height],
    [back, height - 0.03],
  ];
}

/** Create the panel with p over the steps of several training runs. @param {StochasticUnit} unit */
export function createRunsPanel({ steps, drawn }) {
  const panel = createPanel("walker-runs");
  const ticks = [0, steps / 3, (2 * steps) / 3, steps].map((step) => [
    step / steps,
    String(Math.round(step)),
  ]);
  return {
    element: panel.element,
    /**
     * Draw p over the steps of each run, of their mean, and of training by the exact gradient.
     * @param {Float64Array[]} runs x of each run after each step, or [] for training by the mean estimate
     * @param {number[]} mean p after each step: the mean of the runs, or that of training by the mean estimate
     * @param {number[]} exact x after each step of training by the exact gradient
     */
    draw(runs, mean, exact) {
      panel.begin();
      drawAxis(panel, /** @type {[number, string][]} */ (ticks), "steps");
      for (const [p, text] of HALVES) {
        panel.drawLine("axis faint", [
          [0, p],
          [1, p],
        ]);
        panel.drawText(p === 0.5 ? "p" : text, [0, p], { anchor: "end", by: [-0.5, -0.35] });
      }
      for (let run = 0; run < drawn; run += 1)
        panel.drawLine(
          "run",
          runs.map((x, step) => [step / steps, sigmoid(x[run])]),
        );
      panel.drawLine(
        "mean",
        mean.map((p, step) => [step / steps, p]),
      );
      panel.drawLine(
        "exact dashed",
        exact.map((x, step) => [step / steps, sigmoid(x)]),
      );
      panel.show();
    },
  };
}
