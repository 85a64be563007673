// The main chart of a training run: one curve per backward rule, with a band over seeds and a label at its end.

import { makeCenteredNote, createFigure } from "../../chart/plotly/figure.js";
import { listLines } from "../../chart/plotly/moves.js";
import { makeGrey } from "../../chart/plotly/plotly.js";
import { setAttribute } from "../../elements/dom.js";
import { findNearestIndex } from "../../formula/floats.js";
import { AXES, leapAhead, RANGES, VALUE_LETTERS, VALUES } from "./axes.js";
import { makeBandTrace, hasBand, makeCurveTrace } from "./traces.js";
import { createEndLabels } from "./end-labels.js";
import { findLastPoint } from "../state/series.js";

/** @import { Series } from "../state/series.js" */
/** @import { Range, Scale } from "./axes.js" */
/**
 * The contents of a training run's chart. ``run``: an id; while it stays the same, the axes of a moving chart only
 * grow. ``steps``: the end of the x axis; ``words``: a description for screen readers; ``empty``: the text in place of
 * curves; ``legend``: a note in the upper right corner; ``along``: Plotly's x axis if it does not count steps; ``at``:
 * a step to mark with a vertical line.
 * @typedef {{run: string, scale: Scale, series: Series[], steps: number, words: string, empty: string, legend: string,
 *   along?: *, at?: number|null}} Picture
 */

const CHANCE_COLOUR = makeGrey(0.9); // of the line at the score of random guessing
const PLAYHEAD = { type: "line", yref: "paper", y0: 0, y1: 1, line: { color: CHANCE_COLOUR, width: 1.5 } };
const FEW_STEPS = 10; // a shorter axis would get ticks at fractions of a step
const MAX_TICKS = 6; // with more ticks, a narrow chart leaves out the last label
const NARROW = 320; // width in px, without names, of a chart whose labels would meet with more than three ticks
const MAX_DISTANCE = 14; // in px; farther from the pointer, no curve is selected
const PLOT_SELECTOR = ".nsewdrag"; // Plotly's element for pointer events

/**
 * Create the main chart of a training run, with its methods ``draw`` and ``destroy``.
 * @param {HTMLElement} host an element of fixed height
 * @param {{plotly: string|Promise<*>, onPoint: (rule: string|null) => void, onArea?: (left: number, width: number) =>
 *   void}} options ``plotly``: the address of its script, or the loaded module; ``onPoint``: called with the rule whose
 *   curve is near the pointer, or null; ``onArea``: called with position and width of the x axis in px
 */
export function createTrainChart(host, { plotly, onPoint, onArea = () => undefined }) {
  let displayed = { run: "", range: /** @type {Range|null} */ (null), grows: false, width: 0 };
  let plotted = /** @type {Series[]} */ ([]);
  let chart = /** @type {*} */ (null);
  const ends = createEndLabels(host);
  for (const name of /** @type {const} */ (["pointermove", "pointerdown"]))
    host.addEventListener(name, (event) => {
      const overPlot = event.target instanceof Element && event.target.closest(PLOT_SELECTOR);
      if (overPlot && chart) onPoint(findRuleNear(event, chart, plotted));
    });
  return createFigure(host, { plotly, hover: true, compose, onDrawn });

  /** @param {*} graph @param {import("./end-labels.js").Names|null} names the end labels, or null */
  function onDrawn(graph, names) {
    chart = graph;
    const { l, w } = graph._fullLayout._size;
    onArea(l, w);
    ends.show(graph, names);
    const rules = [...plotted.filter(hasBand), ...plotted].map(({ rule }) => rule);
    listLines(graph).forEach((line, at) => setAttribute(line, "data-rule", rules[at]));
    graph.dispatchEvent(new Event("curves", { bubbles: true }));
  }

  /** @param {Picture} picture @param {number} width width of the host in px @param {boolean} isMoving */
  function compose({ run, scale, series, steps, along, empty, legend, at = null }, width, isMoving) {
    // While a curve moves, axis and margin only grow; at rest they fit.
    if (displayed.run !== run || !isMoving) displayed = { run, range: null, grows: false, width: 0 };
    const before = displayed.range;
    displayed.range = RANGES[scale.kind](before, series, scale);
    if (before && displayed.range && String(before) !== String(displayed.range)) {
      if (displayed.grows) displayed.range = leapAhead(scale.kind, before, displayed.range);
      displayed.grows = true;
    }
    const hasRange = displayed.range !== null;
    const hasValues = series.some((each) => findLastPoint(each));
    const range = displayed.range ?? [0, 1];
    const y = { title: { text: scale.title, standoff: 6 }, ...AXES[scale.kind](range), range };
    const spare = isMoving && !before && scale.kind === "decades" ? 2 : 0; // a falling loss gets more letters
    const labels = makeEndNames(series, scale);
    if (hasRange && scale.chance) labels.push(makeChanceName(scale, scale.chance, steps));
    const names = ends.space(width, labels, VALUE_LETTERS[scale.kind] + spare);
    displayed.width = Math.max(displayed.width, names?.width ?? 0);
    const isRough = displayed.grows || (names !== null && names.width < displayed.width);
    if (names) names.width = displayed.width;
    const stepAxis = along ?? makeStepAxis(steps, width - displayed.width);
    const layout = {
      hovermode: "x unified",
      // without curves, grid lines would cross the message
      xaxis: { visible: hasRange, ...stepAxis, showgrid: hasValues },
      yaxis: { visible: hasRange, ...y, showgrid: hasValues },
      shapes: [
        ...(hasRange && scale.chance ? [makeChanceLine(scale.chance)] : []),
        ...(hasRange && at !== null ? [{ ...PLAYHEAD, x0: at, x1: at }] : []),
      ],
      annotations: [
        hasValues
          ? { ...makeCenteredNote(legend), x: 1, y: 1, xanchor: "right", yanchor: "top" }
          : makeCenteredNote(empty),
      ],
    };
    const bands = series.filter(hasBand).map((each) => makeBandTrace(each, scale));
    plotted = series;
    const traces = [...bands, ...series.map((each) => makeCurveTrace(each, scale))];
    return { traces, layout, names, isRough };
  }
}

/** @param {number} steps @param {number} width width of the chart in px, without the names at its curves */
function makeStepAxis(steps, width) {
  return {
    title: { text: "step", standoff: 4 },
    unifiedhovertitle: { text: "step %{x}" },
    range: [0, Math.max(steps, 1)],
    nticks: width < NARROW ? 3 : MAX_TICKS,
    tickangle: 0,
    ...(steps < FEW_STEPS && { dtick: 1 }),
  };
}

/**
 * Return the rule whose curve is vertically nearest to the pointer, or null if none is near.
 * @param {PointerEvent} event @param {*} chart the element into which Plotly has drawn @param {Series[]} series
 */
function findRuleNear({ clientX, clientY }, chart, series) {
  const { xaxis, yaxis, _size: size } = chart._fullLayout;
  const { left, top } = chart.getBoundingClientRect();
  const at = xaxis.p2d(clientX - left - size.l);
  const distances = series.map(({ x, y }) =>
    Math.abs(yaxis.d2p(y[findNearestIndex(x, at)]) + size.t + top - clientY),
  );
  const min = Math.min(...distances.filter(Number.isFinite));
  return min <= MAX_DISTANCE ? (series[distances.indexOf(min)].rule ?? null) : null;
}

/** @param {Series[]} series @param {Scale} scale */
function makeEndNames(series, { kind, decimals }) {
  return series
    .filter(({ ends }) => ends)
    .flatMap((each) => {
      const end = findLastPoint(each);
      const { colour, name, rule = "", faint } = each;
      return end ? [{ ...end, colour, name, rule, faint, value: VALUES[kind](end.y, decimals) }] : [];
    });
}

/** @param {Scale} scale @param {number} y the score of random guessing @param {number} x the end of the x axis */
function makeChanceName({ kind, decimals, guess = "chance" }, y, x) {
  const value = VALUES[kind](y, decimals);
  return { x, y, value, colour: CHANCE_COLOUR, name: guess, rule: "", faint: true };
}

/** @param {number} chance */
function makeChanceLine(chance) {
  return {
    type: "line",
    xref: "paper",
    x0: 0,
    x1: 1,
    y0: chance,
    y1: chance,
    line: { color: CHANCE_COLOUR, width: 1, dash: "dot" },
  };
}
