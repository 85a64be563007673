// The two panels of a walker: the loss with the chance that moves along its chord, and runs over their steps.

import { setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { clampTo } from "../../formula/numbers.js";
import { losses, meanLoss, sigmoid } from "./walk.js";

/** @import { Measured, Settings, Walker } from "./walk.js" */
/** A point, in shares of a panel from the left and from below. @typedef {[number, number]} Point */

const CURVE = 48; // pieces of the parabola
const MARGIN = { left: 2.4, right: 0.8, top: 0.6, bottom: 2.2 }; // in letters
const LONGEST = 0.25; // of the panel: the arrow of the largest mean
const LEAST = 0.02; // a gradient of which no arrow is longer

/** An empty panel, which is drawn in px of the screen. @param {string} kind */
function createPanel(kind) {
  const picture = shape("svg", { class: kind, "aria-hidden": "true" });
  /** @type {Map<string, *>} */
  const parts = new Map();
  const box = { left: 0, top: 0, width: 0, height: 0, em: 16 };

  /** @param {Point} point */
  const at = ([x, y]) =>
    `${(box.left + x * box.width).toFixed(1)} ${(box.top + (1 - y) * box.height).toFixed(1)}`;

  /** The part of a name, made where it is drawn for the first time. @param {string} tag @param {string} name @param {string} look */
  function part(tag, name, look) {
    if (!parts.has(name)) {
      const made = shape(tag, { class: look });
      picture.append(made);
      parts.set(name, made);
    }
    return parts.get(name);
  }

  return {
    element: picture,
    /** Take the size that the page gives it. */
    fit() {
      const { width, height } = picture.getBoundingClientRect();
      const em = parseFloat(getComputedStyle(picture).fontSize);
      const { left, right, top, bottom } = MARGIN;
      Object.assign(box, { em, left: left * em, top: top * em });
      box.width = Math.max(width - (left + right) * em, 1);
      box.height = Math.max(height - (top + bottom) * em, 1);
    },
    /** The share of the width at which a pointer is. @param {number} x in px of the window */
    across: (x) => (x - picture.getBoundingClientRect().left - box.left) / box.width,
    /** @param {string} name @param {string} look @param {Point[]} points */
    line(name, look, points) {
      const path = points.length ? `M${points.map(at).join("L")}` : "";
      setAttribute(part("path", name, look), "d", path);
    },
    /** @param {string} name @param {string} look @param {Point} point @param {number} radius in letters */
    dot(name, look, [x, y], radius) {
      const circle = part("circle", name, look);
      setAttribute(circle, "cx", box.left + x * box.width);
      setAttribute(circle, "cy", box.top + (1 - y) * box.height);
      setAttribute(circle, "r", radius * box.em);
    },
    /**
     * A text beside a point; ``by`` is how far from it, in letters to the right and up.
     * @param {string} name
     * @param {string} text
     * @param {Point} point
     * @param {{anchor?: string, by?: [number, number]}} [place]
     */
    text(name, text, [x, y], { anchor = "middle", by: [right, up] = [0, 0] } = {}) {
      const label = part("text", name, "label");
      setAttribute(label, "x", box.left + x * box.width + right * box.em);
      setAttribute(label, "y", box.top + (1 - y) * box.height - up * box.em);
      setAttribute(label, "text-anchor", anchor);
      setText(label, text);
    },
  };
}

/** The axis below a panel. @param {ReturnType<typeof createPanel>} panel @param {[number, string][]} ticks @param {string} title */
function axis(panel, ticks, title) {
  panel.line("axis", "axis", [
    [0, 0],
    [1, 0],
  ]);
  for (const [at, text] of ticks) panel.text(`tick ${at}`, text, [at, 0], { by: [0, -1] });
  panel.text("title", title, [0.5, 0], { by: [0, -2] });
}

/**
 * The panel of the loss.
 * @param {Walker} walker
 */
export function createLossPanel(walker) {
  const panel = createPanel("walker-loss");
  return {
    element: panel.element,
    across: panel.across,
    /**
     * @param {Settings} settings
     * @param {Measured} measured
     * @param {number} largest of the means of all estimators, without its sign
     * @param {number[]} estimates of the first draws
     * @param {number[]} rests
     */
    draw(settings, measured, largest, estimates, rests) {
      panel.fit();
      axis(panel, HALVES, "p, and y where it is 0 or 1");
      const y = Array.from({ length: CURVE + 1 }, (_, i) => i / CURVE);
      const loss = losses(walker, y, settings);
      const top = Math.max(...loss, LEAST) * 1.6;
      const up = (/** @type {number} */ value) => value / top;
      panel.line(
        "parabola",
        "parabola",
        y.map((each, i) => [each, up(loss[i])]),
      );
      const [zero, one] = [loss[0], loss[CURVE]].map(up);
      panel.line("chord", "exact", [
        [0, zero],
        [1, one],
      ]);
      panel.dot("zero", "end", [0, zero], 0.3);
      panel.dot("one", "end", [1, one], 0.3);
      panel.text("f", "loss", [0.02, zero], { anchor: "start", by: [0.6, -1.5] });
      panel.text("mean", "mean loss", [1, one], { anchor: "end", by: [-0.6, 1.1] });
      const ball = /** @type {Point} */ ([settings.p, up(meanLoss(walker, settings.p, settings))]);
      drawStep(panel, ball, measured, LONGEST / Math.max(LEAST, largest), estimates);
      panel.line("rests", "rest", rests.slice(0, 1).flatMap(foot));
      panel.text("rests here", rests.length ? "rests" : "", [rests[0] ?? 0, 0.06], { by: [0, 0.2] });
    },
  };
}

/** @type {[number, string][]} */
const HALVES = [
  [0, "0"],
  [0.5, "0.5"],
  [1, "1"],
];

/** A small triangle on the axis. @param {number} p @returns {Point[]} */
const foot = (p) => [
  [p, 0.05],
  [p - 0.015, 0],
  [p + 0.015, 0],
  [p, 0.05],
];

/**
 * The ball, and above it the way that the mean, the exact gradient and single draws lead.
 * @param {ReturnType<typeof createPanel>} panel
 * @param {Point} ball
 * @param {Measured} measured
 * @param {number} scale of the panel's width by a gradient
 * @param {number[]} estimates
 */
function drawStep(panel, [p, height], { mean, sd, exact }, scale, estimates) {
  const free = (/** @type {number} */ gradient) => p - scale * gradient;
  const to = (/** @type {number} */ gradient) => clampTo(free(gradient), 0, 1);
  const [above, high] = [height + 0.14, height + 0.24];
  const known = Number.isFinite(mean);
  const spread = known && Number.isFinite(sd) ? [to(mean + sd), to(mean - sd)] : [];
  panel.line(
    "spread",
    "spread",
    spread.map((x) => [x, above]),
  );
  estimates.forEach((estimate, i) => {
    const x = free(estimate);
    const tick = /** @type {Point[]} */ ([
      [x, above - 0.025],
      [x, above + 0.025],
    ]);
    panel.line(`draw ${i}`, "draw", x >= 0 && x <= 1 ? tick : []);
  });
  panel.line("exact arrow", "exact", arrow(p, to(exact), high));
  panel.line("mean arrow", "mean", known ? arrow(p, to(mean), above) : []);
  panel.dot("ball", "ball", [p, height], 0.5);
}

/** @param {number} from @param {number} to @param {number} height @returns {Point[]} */
function arrow(from, to, height) {
  const way = Math.sign(to - from);
  const back = to - way * Math.min(0.025, Math.abs(to - from));
  return [
    [from, height],
    [to, height],
    [back, height + 0.03],
    [to, height],
    [back, height - 0.03],
  ];
}

/**
 * The panel of runs over their steps.
 * @param {Walker} walker
 */
export function createRunsPanel({ steps, drawn }) {
  const panel = createPanel("walker-runs");
  const ticks = [0, steps / 3, (2 * steps) / 3, steps].map((step) => [
    step / steps,
    String(Math.round(step)),
  ]);
  return {
    element: panel.element,
    /**
     * @param {Float64Array[]} runs x of each after each step; none where it walks by the mean
     * @param {number[]} mean of runs, or the walk by the mean; p after each step
     * @param {number[]} exact x after each step
     */
    draw(runs, mean, exact) {
      panel.fit();
      axis(panel, /** @type {[number, string][]} */ (ticks), "steps");
      for (const [p, text] of HALVES) {
        panel.line(`level ${p}`, "axis faint", [
          [0, p],
          [1, p],
        ]);
        panel.text(`p ${p}`, p === 0.5 ? "p" : text, [0, p], { anchor: "end", by: [-0.5, -0.35] });
      }
      for (let run = 0; run < drawn; run += 1)
        panel.line(
          `run ${run}`,
          "run",
          runs.map((x, step) => [step / steps, sigmoid(x[run])]),
        );
      panel.line(
        "mean",
        "mean",
        mean.map((p, step) => [step / steps, p]),
      );
      panel.line(
        "exact",
        "exact dashed",
        exact.map((x, step) => [step / steps, sigmoid(x)]),
      );
    },
  };
}
