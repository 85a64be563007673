// The large chart of a run: one line a rule over the steps, a band over its seeds, names at the ends.

import { makeCenteredNote, createFigure } from "../../chart/plotly/figure.js";
import { setAttribute } from "../../elements/dom.js";
import { AXES, RANGES, VALUE_LETTERS, VALUES } from "./axes.js";
import { GUESSED, chancePosition } from "./chance-line.js";
import { bandTrace, hasBand, traceOf } from "./traces.js";
import { createEnds } from "./end-labels.js";
import { endOf } from "../state/series.js";

/** @import { Series } from "../state/series.js" */
/** @import { Range, Scale } from "./axes.js" */
/**
 * A picture: ``run`` names what it is of, ``words`` are for those who cannot see it, ``empty`` is said before
 * the first value, ``legend`` beside the curves; ``along`` is the x axis where it is not that of steps.
 * @typedef {{run: string, scale: Scale, series: Series[], steps: number, words: string, empty: string,
 *   legend: string, along?: *, at?: number|null}} Picture ``at`` is the step that is looked at
 */

const FEW = 10; // steps, between which Plotly would mark fractions of a step
const TICKS = 6; // at most, with which the axis names its end in a narrow chart too
const NEAR = 14; // px from a curve, within which it is pointed at
const PLOT = ".nsewdrag"; // where Plotly is pointed at

/**
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string|Promise<*>, onPoint: (rule: string|null) => void, onArea?: (left: number, width: number) =>
 *   void}} options the address of plotly.js; ``onPoint`` gets the rule whose curve the pointer is at,
 *   ``onArea`` the x axis in px
 */
export function createTrainChart(host, { plotly, onPoint, onArea = () => undefined }) {
  let displayed = { run: "", range: /** @type {Range|null} */ (null) };
  let drawn = /** @type {Series[]} */ ([]);
  let chart = /** @type {*} */ (null);
  const ends = createEnds(host);
  for (const name of /** @type {const} */ (["pointermove", "pointerdown"]))
    host.addEventListener(name, (event) => {
      const overPlot = event.target instanceof Element && event.target.closest(PLOT);
      if (overPlot && chart) onPoint(ruleNear(event, chart, drawn));
    });
  return createFigure(host, { plotly, hover: true, compose, onDrawn });

  /** @param {*} graph @param {import("./end-labels.js").Names|null} names */
  function onDrawn(graph, names) {
    chart = graph;
    const { l, w } = graph._fullLayout._size;
    onArea(l, w);
    ends.show(graph, names);
    const lines = graph.querySelectorAll(".scatterlayer > .trace");
    const rules = [...drawn.filter(hasBand), ...drawn].map(({ rule }) => rule);
    lines.forEach((/** @type {Element} */ line, /** @type {number} */ at) =>
      setAttribute(line, "data-rule", rules[at]),
    );
    graph.dispatchEvent(new Event("curves", { bubbles: true })); // in their usual order
  }

  /** @param {Picture} picture @param {number} width px of the host */
  function compose(
    { run, scale, series, steps, along = alongSteps(steps), empty, legend, at = null },
    width,
  ) {
    if (displayed.run !== run) displayed = { run, range: null };
    displayed.range = RANGES[scale.kind](displayed.range, series, scale);
    const known = displayed.range !== null;
    const begun = series.some((each) => endOf(each));
    const range = displayed.range ?? [0, 1];
    const y = { title: { text: scale.title, standoff: 6 }, ...AXES[scale.kind](range), range };
    const layout = {
      hovermode: "x unified",
      xaxis: { visible: known, ...along, showgrid: begun }, // else lines go through the words
      yaxis: { visible: known, ...y, showgrid: begun },
      shapes: [
        ...(known && scale.chance ? [guessed(scale.chance)] : []),
        ...(known && at !== null ? [playhead(at)] : []),
      ],
      annotations: [
        begun ? legendOf(legend) : makeCenteredNote(empty),
        ...(known && scale.chance ? [nameOfChance(scale.chance, series, range, steps)] : []),
      ],
    };
    const bands = series.filter(hasBand).map((each) => bandTrace(each, scale));
    drawn = series;
    const names = ends.space(width, namesOf(series, scale), VALUE_LETTERS[scale.kind]);
    return { traces: [...bands, ...series.map((each) => traceOf(each, scale))], layout, names };
  }
}

/** The axis of steps. @param {number} steps */
function alongSteps(steps) {
  return {
    title: { text: "step", standoff: 4 },
    unifiedhovertitle: { text: "step %{x}" },
    range: [0, Math.max(steps, 1)],
    nticks: TICKS,
    ...(steps < FEW && { dtick: 1 }),
  };
}

/**
 * The rule whose curve is nearest above or below the pointer.
 * @param {PointerEvent} event
 * @param {*} chart drawn by Plotly
 * @param {Series[]} series
 */
function ruleNear({ clientX, clientY }, chart, series) {
  const { xaxis, yaxis, _size: size } = chart._fullLayout;
  const { left, top } = chart.getBoundingClientRect();
  const at = xaxis.p2d(clientX - left - size.l);
  const away = series.map(({ x, y }) => Math.abs(yaxis.d2p(y[nearestOf(x, at)]) + size.t + top - clientY));
  const least = Math.min(...away.filter(Number.isFinite));
  return least <= NEAR ? (series[away.indexOf(least)].rule ?? null) : null;
}

/**
 * The index of the number nearest to another, in ascending order.
 * @param {ArrayLike<number>} numbers
 * @param {number} wanted
 */
function nearestOf(numbers, wanted) {
  let at = 0;
  while (at + 1 < numbers.length && Math.abs(numbers[at + 1] - wanted) <= Math.abs(numbers[at] - wanted))
    at += 1;
  return at;
}

/** The names and values at the ends of the rules' curves. @param {Series[]} series @param {Scale} scale */
function namesOf(series, { kind, decimals }) {
  return series
    .filter(({ ends }) => ends)
    .flatMap((each) => {
      const end = endOf(each);
      const { colour, name, label = name, rule = "" } = each;
      return end ? [{ ...end, colour, name: label, rule, value: VALUES[kind](end.y, decimals) }] : [];
    });
}

/** @param {number} step */
function playhead(step) {
  const line = { color: GUESSED, width: 1.5 };
  return { type: "line", yref: "paper", y0: 0, y1: 1, x0: step, x1: step, line };
}

/** @param {number} chance */
function guessed(chance) {
  return {
    type: "line",
    xref: "paper",
    x0: 0,
    x1: 1,
    y0: chance,
    y1: chance,
    line: { color: GUESSED, width: 1, dash: "dot" },
  };
}

/**
 * The word beside the line of chance, where no curve is.
 * @param {number} chance
 * @param {Series[]} series
 * @param {Range} range of y
 * @param {number} steps
 */
function nameOfChance(chance, series, range, steps) {
  const { x, isAbove } = chancePosition(chance, series, range, steps);
  return {
    text: "chance",
    xref: "paper",
    x,
    y: chance,
    xanchor: "right",
    yanchor: isAbove ? "bottom" : "top",
    showarrow: false,
  };
}

/** @param {string} legend */
function legendOf(legend) {
  return { ...makeCenteredNote(legend), x: 1, y: 1, xanchor: "right", yanchor: "top" };
}
