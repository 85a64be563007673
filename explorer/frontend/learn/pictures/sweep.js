// A chart of a score, such as accuracy, over the values of a parameter, with that of a control.

import { getControls, getEntries } from "../../choice/choice.js";
import { element, setText } from "../../elements/dom.js";
import { getCurveColours } from "../../explore/stage/colours.js";
import { getDisplayName, getControlValue } from "../../formula/controls.js";
import { formatNumber } from "../../formula/numbers.js";
import { createFigure } from "../../chart/plotly/figure.js";
import { makeGrey, makeNote } from "../../chart/plotly/plotly.js";

/**
 * Scores over the values ``x`` of a parameter. ``mean``, ``sd``: mean and standard deviation over seeds; ``control``:
 * the same two of a control.
 * @typedef {{parameter: string, x_name: string, y_name: string, x: number[], mean: number[], sd: number[], control:
 *   [number, number], control_name: string, seeds: number}} Sweep
 * @typedef {{words: string, value: number|null, slot: number}} Drawn the displayed state; ``value``: the parameter's
 *   current value; ``slot``: colour index of its rule
 */

const CONTROL = makeGrey(0.9);
const BAND = makeGrey(0.18);
const SIDE = 1.35; // factor by which the axis extends beyond the values

/**
 * Create the chart of a score over the values of a parameter.
 * @param {Sweep} sweep @param {{plotly: string, signal: AbortSignal}} options
 * @returns {import("./pictures.js").Picture}
 */
export function createSweep(sweep, { plotly, signal }) {
  const host = element("div", { class: "lines" });
  const status = element("p", { class: "sweep-said", role: "status" });
  const compose = (/** @type {Drawn} */ { value, slot }) => {
    const { rules: colours } = getCurveColours(host);
    return makeFigure(sweep, value, colours[slot % colours.length]);
  };
  const figure = createFigure(host, { plotly, hover: false, compose });
  signal.addEventListener("abort", figure.destroy);
  show(null, 0);

  /** @param {number|null} value the parameter's value, or null @param {number} slot colour index of the rule */
  function show(value, slot) {
    figure.draw({ words: describeSweep(sweep), value, slot });
    setText(status, value === null ? "" : describeNearest(sweep, value));
  }

  return {
    element: element("figure", { class: "sweep" }, host, status),
    follow(choice) {
      const control = getControls(choice).find(
        ({ parameter }) => getDisplayName(parameter) === sweep.parameter,
      );
      show(control ? getControlValue(choice.parameters, control) : null, findSlot(choice, sweep.parameter));
    },
  };
}

/**
 * Return the colour slot of the first rule with a parameter, or else of the first rule.
 * @param {import("../../choice/choice.js").Choice} choice @param {string} name the parameter
 */
function findSlot(choice, name) {
  const { rules } = getEntries(choice);
  const has = rules.findIndex(({ parameters }) =>
    parameters.some((parameter) => getDisplayName(parameter) === name),
  );
  return choice.rules[Math.max(has, 0)].slot;
}

/** @param {Sweep} sweep @param {number|null} value the parameter's value, or null @param {string} colour */
function makeFigure(sweep, value, colour) {
  const { x, mean, sd, control, control_name: name } = sweep;
  const [low, high] = [x[0] / SIDE, x[x.length - 1] * SIDE];
  const [middle, far] = control;
  const curve = {
    type: "scatter",
    mode: "lines+markers",
    x,
    y: mean,
    error_y: { type: "data", array: sd, thickness: 1.5, width: 4, color: colour },
    line: { color: colour, width: 2.2 },
    marker: { size: 7 },
  };
  const fullWidth = { xref: "paper", x0: 0, x1: 1 };
  const shapes = [
    {
      type: "rect",
      ...fullWidth,
      y0: middle - far,
      y1: middle + far,
      fillcolor: BAND,
      line: { width: 0 },
      layer: "below",
    },
    { type: "line", ...fullWidth, y0: middle, y1: middle, line: { color: CONTROL, width: 1.5, dash: "dot" } },
    ...(value ? [makeValueLine(Math.min(Math.max(value, low), high))] : []),
  ];
  const layout = {
    xaxis: {
      title: { text: sweep.x_name, standoff: 4 },
      type: "log",
      range: [Math.log10(low), Math.log10(high)],
      tickvals: x,
      ticktext: x.map(formatNumber),
    },
    yaxis: {
      title: { text: `${sweep.y_name}, %`, standoff: 6 },
      range: [getFloor(sweep), 1],
      tickvals: TICKS,
      ticktext: TICKS.map((tick) => String(Math.round(100 * tick))),
    },
    shapes,
    annotations: [{ ...makeNote(name, { x: 1, y: middle }), yref: "y", xanchor: "right", yanchor: "bottom" }],
  };
  return { traces: [curve], layout };
}

const TICKS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];

/** Return the highest axis tick that no mean minus its standard deviation falls below. @param {Sweep} sweep */
function getFloor({ mean, sd, control: [middle, far] }) {
  const least = Math.min(middle - far, ...mean.map((each, at) => each - sd[at]));
  return Math.max(0, ...TICKS.filter((tick) => tick <= least));
}

/** @param {number} value */
function makeValueLine(value) {
  return {
    type: "line",
    yref: "paper",
    x0: value,
    x1: value,
    y0: 0,
    y1: 1,
    line: { color: CONTROL, width: 2 },
  };
}

/** Format a score with its standard deviation in percent, as in "95 ± 3 %". @param {number} mean @param {number} sd */
function formatShare(mean, sd) {
  return `${Math.round(100 * mean)} ± ${Math.round(100 * sd)} %`;
}

/** Describe the chart of a score for screen readers. @param {Sweep} sweep */
export function describeSweep(sweep) {
  const { parameter, y_name: name, x, mean, sd, control, control_name: without, seeds } = sweep;
  const results = x.map(
    (value, index) => `${parameter} = ${formatNumber(value)}: ${formatShare(mean[index], sd[index])}`,
  );
  return `${name}, mean ± SD of ${seeds} seeds. ${results.join("; ")}; ${without}: ${formatShare(...control)}`;
}

/**
 * Describe the score at the trained value of the parameter that is nearest to the current one.
 * @param {Sweep} sweep @param {number} value the current one, above 0
 */
export function describeNearest({ parameter, x, mean, sd, control, control_name: without, seeds }, value) {
  const distances = x.map((each) => Math.abs(Math.log(each / value)));
  const index = distances.indexOf(Math.min(...distances));
  const position = `${parameter} = ${formatNumber(x[index])}`;
  const nearest = x[index] === value ? `At ${position},` : `At ${position}, the nearest that was trained,`;
  const controlText = `with ${without} ${formatShare(...control)} (mean ± SD of ${seeds} seeds)`;
  return `${nearest} ${formatShare(mean[index], sd[index])} of held-out points are right; ${controlText}.`;
}
