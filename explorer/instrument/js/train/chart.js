// The large chart of a run: one line a rule over the steps, a band over its seeds, names at the ends.

import { centred, createFigure } from "../chart/figure.js";
import { escaped } from "../chart/traces.js";
import { setAttribute } from "../elements/dom.js";
import { powerText, shortText } from "../formula/numbers.js";
import { createEnds } from "./ends.js";
import { bandOf, endOf } from "./series.js";

/** @typedef {import("./series.js").Series} Series */
/** @typedef {import("./series.js").Measure} Measure */
/** @typedef {[number, number]} Range */
/**
 * An axis of values: ``share`` from 0 to 1 and read in percent, ``fit`` at most 1, ``cosine`` from −1 to 1,
 * ``decades`` above 0. ``chance`` is what guessing gives, where that is known; ``banded`` says whether there
 * are bands over seeds.
 * @typedef {{kind: "share"|"fit"|"cosine"|"decades", title: string, chance: number|null,
 *   banded: boolean}} Scale
 * A picture: ``run`` names what it is of, ``words`` are for those who cannot see it, ``empty`` is said before
 * the first value, ``legend`` beside the curves; ``along`` is the x axis where it is not that of steps.
 * @typedef {{run: string, scale: Scale, series: Series[], steps: number, words: string, empty: string,
 *   legend: string, along?: *}} Picture
 */

const FEW = 10; // steps, between which Plotly would mark fractions of a step
const WORST = 3; // decades above the first value shown: a rule that diverges shall not flatten the others
const BAND = "24"; // opacity, as the end of a colour
const HIGH_CHANCE = 0.4; // beyond which the axis begins here and not at 0
const GUESSED = "rgba(127, 133, 143, 0.9)";
const VALUE_LETTERS = { share: 3, fit: 5, cosine: 5, decades: 6 }; // of a value, so that its width stays
const TINY = 1e-30; // where mean − SD is below 0, which no axis of decades has

const NEAR = 14; // px from a curve, within which it is pointed at

/**
 * @param {HTMLElement} host of a fixed height
 * @param {{plotly: string, onPoint: (rule: string|null) => void}} options the address of plotly.js, and who
 * is told which rule's curve the pointer is at
 */
export function createTrainChart(host, { plotly, onPoint }) {
  let seen = { run: "", range: /** @type {Range|null} */ (null) };
  let drawn = /** @type {Series[]} */ ([]);
  let chart = /** @type {*} */ (null);
  const ends = createEnds(host);
  host.addEventListener("pointermove", (event) => {
    const overPlot = event.target instanceof Element && event.target.closest(".nsewdrag");
    if (overPlot && chart) onPoint(ruleNear(event, chart, drawn));
  });
  return createFigure(host, { plotly, hover: true, compose, onDrawn });

  /** @param {*} place @param {import("./ends.js").Names|null} names */
  function onDrawn(place, names) {
    chart = place;
    ends.show(place, names);
    const lines = place.querySelectorAll(".scatterlayer > .trace");
    const rules = [...drawn.filter(hasBand), ...drawn].map(({ rule }) => rule);
    lines.forEach((/** @type {Element} */ line, /** @type {number} */ at) =>
      setAttribute(line, "data-rule", rules[at]),
    );
  }

  /** @param {Picture} picture */
  function compose({ run, scale, series, steps, along = alongSteps(steps), empty, legend }) {
    if (seen.run !== run) seen = { run, range: null };
    seen.range = RANGES[scale.kind](seen.range, series, scale);
    const known = seen.range !== null;
    const begun = series.some((each) => endOf(each));
    const range = seen.range ?? [0, 1];
    const y = { title: { text: scale.title, standoff: 6 }, ...AXES[scale.kind](range), range };
    const layout = {
      hovermode: "x unified",
      xaxis: { visible: known, ...along },
      yaxis: { visible: known, ...y },
      shapes: known && scale.chance ? [guessed(scale.chance)] : [],
      annotations: [
        begun ? legendOf(legend) : centred(empty),
        ...(known && scale.chance ? [nameOfChance(scale.chance)] : []),
      ],
    };
    const bands = series.filter(hasBand).map((each) => bandTrace(each, scale));
    drawn = series;
    const names = ends.room(host, namesOf(series, scale), VALUE_LETTERS[scale.kind]);
    return { traces: [...bands, ...series.map((each) => traceOf(each, scale))], layout, names };
  }
}

/** The axis of steps. @param {number} steps */
function alongSteps(steps) {
  return {
    title: { text: "step", standoff: 4 },
    unifiedhovertitle: { text: "step %{x}" },
    range: [0, Math.max(steps, 1)],
    ...(steps < FEW && { dtick: 1 }),
  };
}

/** Whether a band over seeds belongs to a series. @param {Series} series */
function hasBand({ y, spread = [] }) {
  return Array.from(spread).some((deviation, at) => Number.isFinite(deviation) && Number.isFinite(y[at]));
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
 * The place of the number nearest to another, in ascending order.
 * @param {ArrayLike<number>} numbers
 * @param {number} wanted
 */
function nearestOf(numbers, wanted) {
  let at = 0;
  while (at + 1 < numbers.length && Math.abs(numbers[at + 1] - wanted) <= Math.abs(numbers[at] - wanted))
    at += 1;
  return at;
}

/** Ticks by kind of axis. @type {{[kind in Scale["kind"]]: (range: Range) => *}} */
const AXES = {
  share: (range) => evenly(range, (value) => String(Math.round(100 * value))),
  fit: (range) => evenly(range, (value) => String(Math.round(100 * value) / 100)),
  cosine: (range) => evenly(range, (value) => String(value).replace("-", "−")),
  decades,
};

/** @param {Range} range @param {(value: number) => string} text */
function evenly([low, high], text) {
  const step =
    [0.1, 0.2, 0.25, 0.5].find((each) => (high - low) / each <= 4.01) ?? Math.ceil((high - low) / 4);
  const tickvals = [];
  for (let value = high; value >= low - 1e-9; value -= step)
    tickvals.unshift(Math.abs(value) < 1e-9 ? 0 : value);
  return { type: "linear", tickmode: "array", tickvals, ticktext: tickvals.map(text) };
}

/** Lines at 1, 2, 5 or at decades, as there is room. @param {Range} range */
function decades([low, high]) {
  const stride = Math.ceil((high - low) / 8);
  const powers = Array.from({ length: high - low + 1 }, (_, at) => low + at).filter(
    (_, at) => at % stride === 0,
  );
  const fine = high - low <= 2;
  const tickvals = powers.flatMap((at) => (fine ? [1, 2, 5] : [1]).map((factor) => factor * 10 ** at));
  return {
    type: "log",
    tickmode: "array",
    tickvals,
    ticktext: fine ? tickvals.map(shortText) : powers.map(powerText),
  };
}

/**
 * Ranges that hold all series, and only ever grow.
 * @type {{[kind in Scale["kind"]]: (range: Range|null, series: Series[], scale: Scale) => Range|null}}
 */
const RANGES = { share: shares, fit: fits, cosine: cosines, decades: powers };

/**
 * From 0, or from a little below chance where that is high.
 * @param {Range|null} range
 * @param {Series[]} series
 * @param {Scale} scale
 * @returns {Range}
 */
function shares(range, series, { chance }) {
  const start = (chance ?? 0) > HIGH_CHANCE ? HIGH_CHANCE : 0;
  return [Math.min(range?.[0] ?? start, leastOf(series) < start ? 0 : start), 1];
}

/**
 * From 0, or from −1 where a rule does worse than the mean: how much worse is of no interest.
 * @param {Range|null} range
 * @param {Series[]} series
 * @returns {Range}
 */
function fits(range, series) {
  return [Math.min(range?.[0] ?? 0, leastOf(series) < 0 ? -1 : 0), 1];
}

/**
 * From 0, or as far below as it takes in halves.
 * @param {Range|null} range
 * @param {Series[]} series
 * @returns {Range}
 */
function cosines(range, series) {
  return [Math.min(range?.[0] ?? 0, Math.floor(2 * Math.min(leastOf(series), 0)) / 2), 1];
}

/** The least value, infinite where there is none. @param {Series[]} series */
function leastOf(series) {
  return Math.min(
    ...series.map(({ y }) =>
      Array.from(y).reduce((least, value) => (value < least ? value : least), Infinity),
    ),
  );
}

/**
 * Whole decades, but for what is far above where a series began.
 * @param {Range|null} range
 * @param {Series[]} series
 * @returns {Range|null}
 */
function powers(range, series) {
  let [low, high] = range ?? [Infinity, -Infinity];
  for (const { y } of series) {
    const values = Array.from(y);
    const first = values.find((value) => value > 0);
    if (first === undefined) continue;
    const most = Math.log10(first) + WORST;
    for (const value of values) {
      if (!(value > 0) || !Number.isFinite(value)) continue;
      low = Math.min(low, Math.floor(Math.log10(value)));
      high = Math.max(high, Math.ceil(Math.min(Math.log10(value), most)));
    }
  }
  return low > high ? null : [low, Math.max(high, low + 1)];
}

/** @param {Series} series @param {Scale} scale */
function traceOf({ name, meta, colour, x, y, spread, dash, faint }, { kind }) {
  const common = {
    name: escaped(name),
    x,
    y,
    type: "scatter",
    mode: x.length > 1 ? "lines" : "lines+markers",
    opacity: faint ? 0.3 : 1,
  };
  const line = { color: colour, width: faint ? 1.5 : 2.2, dash: dash ?? "solid" };
  const marker = { color: colour, size: 7 };
  return {
    ...common,
    line,
    marker,
    ...hoverOf(kind, y, spread),
    ...(meta && { meta }),
    ...(faint && { hoverinfo: "skip", hovertemplate: null }),
  };
}

/**
 * What stands under the pointer, as the sentence has it: a share in percent, with several seeds its SD.
 * @param {Scale["kind"]} kind
 * @param {ArrayLike<number>} y
 * @param {ArrayLike<number>} [spread]
 */
function hoverOf(kind, y, spread) {
  const [times, format, unit] = kind === "share" ? [100, ".1f", " %"] : [1, ".4~g", ""];
  const several = spread && Array.from(spread).some(Number.isFinite);
  const deviation = several ? ` ± %{customdata[1]:${format}}` : "";
  return {
    customdata: Array.from(y, (value, at) => [times * value, times * (spread?.[at] ?? 0)]),
    hovertemplate: `%{customdata[0]:${format}}${deviation}${unit}`,
  };
}

/** Mean ± SD over seeds. @param {Series} series @param {Scale} scale */
function bandTrace(series, { kind }) {
  const held = (/** @type {number} */ value) =>
    kind === "decades" ? Math.max(value, TINY) : Math.min(value, 1);
  const line = { color: series.colour, width: 0 };
  return {
    ...bandOf(series, held),
    type: "scatter",
    mode: "lines",
    fill: "toself",
    fillcolor: `${series.colour}${BAND}`,
    line,
    hoverinfo: "skip",
    name: "",
  };
}

/**
 * How a value is written at the end of its curve.
 * @type {{[kind in Scale["kind"]]: (value: number) => string}}
 */
const VALUES = {
  share: (value) => `${Math.round(100 * value)}`,
  fit: shortText,
  cosine: (value) => value.toFixed(2).replace("-", "−"),
  decades: shortText,
};

/** What stands at the ends of the curves of rules. @param {Series[]} series @param {Scale} scale */
function namesOf(series, { kind }) {
  return series
    .filter(({ ends }) => ends)
    .flatMap((each) => {
      const end = endOf(each);
      const { colour, name, rule = "" } = each;
      return end ? [{ ...end, colour, name, rule, value: VALUES[kind](end.y) }] : [];
    });
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

/** @param {number} chance */
function nameOfChance(chance) {
  return {
    text: "chance",
    xref: "paper",
    x: 1,
    y: chance,
    xanchor: "right",
    yanchor: "bottom",
    showarrow: false,
  };
}

/** @param {string} legend */
function legendOf(legend) {
  return { ...centred(legend), x: 1, y: 1, xanchor: "right", yanchor: "top" };
}
