// The chart for the page's settings. The browser computes the curves; torch confirms them when the user pauses.

import { createChart } from "../../chart/view/chart.js";
import * as choices from "../../choice/choice.js";
import { getCatalogue } from "../../choice/entries.js";
import { QUICK_POINTS, sampleCurves } from "../../formula/curves.js";
import { PREVIEW_QUANTILES, FINE_QUANTILES } from "../../formula/means.js";
import { getSampling } from "../../formula/sampling.js";
import { createCarried } from "./carried-data.js";
import { createDrawing } from "./drawing.js";
import { createLayerWords } from "./layers.js";
import { createLearning } from "./learning.js";
import { createLoss } from "./loss.js";
import { createLayerQuestions } from "./layer-questions.js";
import { createWords, NO_WORDS } from "./words.js";

/**
 * The curves of the chart when the user has paused. ``confirmed``: whether torch has computed them.
 * @typedef {{curves: import("../../measures/csv.js").Sampled & {marks: ArrayLike<number>, kinks: Record<string,
 *   number[]|null>}, confirmed: boolean}} Displayed
 */
/** @import { Choice } from "../../choice/choice.js" */
/** @import { Answer, CreateConfirmation, Status } from "../../asking/confirm.js" */
/** The phase of a change by the user: "settled" once it is finished. @typedef {"moving"|"settled"} Phase */

/**
 * Return whether curves have only the few points of a drag.
 * @param {import("../../formula/curves.js").Curves} curves
 */
const isQuick = ({ drawn, x }) => drawn !== undefined && x.length < getSampling().points;
/** @import { GetCurves, Sketch } from "../../chart/scene/picture.js" */

/**
 * Create the chart for the page's settings, with the sentences above it.
 * @param {{words: HTMLElement, chart: HTMLElement}} hosts
 * @param {{store: import("../../choice/store.js").Store, plotly: string|Promise<*>, confirm: CreateConfirmation|null,
 *   ask: import("../../asking/ask.js").Ask, explanation?: string, elsewhere?: string, colours: () => {neutral: string,
 *   rules: string[]}, words?: import("./words.js").Words, isLabelled?: boolean, leastRange?: [number, number], over?:
 *   GetCurves, sketches?: () => Sketch[], carries?: boolean, read?: import("../../cards/formula-field.js").Read|null,
 *   hasData?: boolean, onFrame?: (frame: import("../../chart/scene/panels.js").Frame) => void, onCurves?: (displayed:
 *   Displayed) => void}} options
 *   ``plotly``: address of plotly.js; ``confirm``: creates requests for torch's curves, or null; ``explanation``: text
 *   about the label that says whether torch has confirmed them; ``isLabelled``: whether labels replace the legend on
 *   every page, not only on Explore's; ``words``: initial sentences; ``leastRange``, ``onFrame``: passed to the chart;
 *   ``over``: returns further curves; ``sketches``: returns drawings, which labels leave free; ``read``: parses a
 *   loss's formula; ``elsewhere``: replaces sentences that only torch could write; ``carries``: whether to plot data that
 *   the user has sent from a training run; ``hasData``: whether a learning parameter has input data (true by default);
 *   ``onCurves``: called with the curves when the user pauses
 */
export function createStage(hosts, options) {
  const { store, confirm, elsewhere = "", colours, words: startWords, leastRange, onCurves } = options;
  const words = createWords(hosts.words, options.explanation);
  const carried = options.carries ? createCarried() : null;
  const learning = createLearning(store, options.ask, colours, options.hasData ?? true);
  const sketch = options.read ? createDrawing(store, { colours, onTurn: refresh }) : null;
  const chart = createChart(hosts.chart, {
    plotly: options.plotly,
    onView: (start, stop, phase) =>
      store.change(choices.setRange(store.current, start, stop), { phase, target: "view" }),
    onParameter: setGripValue,
    pencil: sketch?.pencil,
    isLabelled: () => options.isLabelled || hosts.chart.closest(".calm, .whole") !== null,
    onFrame(frame) {
      carried?.follow(frame);
      learning.follow(frame);
      sketch?.pencil.follow(frame);
      options.onFrame?.(frame);
    },
  });
  const area = /** @type {HTMLElement} */ (hosts.chart.querySelector(".chart-place"));
  carried?.put(area);
  learning.put(area);
  sketch?.pencil.put(area);
  const layer = createLayerWords(store);
  const loss = createLoss(store, options.read ?? null);
  area.after(...(sketch ? [sketch.line] : []), loss.element, layer.element);
  const layers = createLayerQuestions(options.ask, () => chart.draw(makeChartData(store.current), phase));
  const confirmation = confirm?.({ onAnswer: handleAnswer, onStatus: handleStatus });
  let frame = 0;
  /** @type {Phase} */
  let phase = "settled";
  const missing = { ...NO_WORDS, main: elsewhere };
  const fallback = confirm ? null : missing;
  const start = { key: startWords && choices.toCurvesKey(store.current), words: startWords };
  let lastExact = {
    key: "",
    exact: /** @type {import("../../formula/stochastic.js").UnbiasedGradient|null} */ (null),
  };
  let displayed = { key: "", curves: /** @type {*} */ (null), confirmed: false };

  function refresh() {
    frame ||= requestAnimationFrame(draw);
  }

  /** @param {string} name @param {number} value @param {Phase} how */
  function setGripValue(name, value, how) {
    const control = choices.getControls(store.current).find((one) => one.name === name);
    if (control)
      store.change(choices.setParameter(store.current, control, value), { phase: how, target: null });
  }

  /** @param {Choice} _choice @param {{phase: Phase}} change */
  function handleChange(_choice, change) {
    phase = change.phase;
    learning.arrange(store.current); // first, because this changes the chart's height
    layer.arrange(store.current);
    loss.show(store.current);
    if (phase === "settled") draw();
    else frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    cancelAnimationFrame(frame);
    frame = 0;
    const choice = store.current;
    const key = choices.toCurvesKey(choice);
    if (key !== displayed.key || (phase === "settled" && isQuick(displayed.curves))) {
      confirmation?.drop();
      words.show(key === start.key ? start.words : fallback);
      displayed = { key, curves: sampleChoice(choice), confirmed: false };
    }
    chart.draw(makeChartData(choice), phase);
    learning.show(choice);
    if (phase === "settled") onCurves?.(displayed);
    if (phase === "settled" && !displayed.confirmed) confirmation?.ask(choice);
  }

  /**
   * Compute the curves for the settings. Stochastic curves keep their last unbiased gradient, which only Python
   * computes.
   * @param {Choice} choice
   */
  function sampleChoice(
    choice,
    quantiles = confirm || phase === "moving" ? PREVIEW_QUANTILES : FINE_QUANTILES,
  ) {
    const settings = {
      ...choices.getSamplingSettings(choice),
      learns: choice.learns,
      loss: choices.getLoss(choice),
    };
    const points = phase === "moving" && choices.isStochastic(choice) ? QUICK_POINTS : getSampling().points;
    const curves = sampleCurves(choices.getEntries(choice), settings, { points, quantiles });
    const isOf = lastExact.key === JSON.stringify([choice.op, choice.f]);
    if (curves.drawn && lastExact.exact && isOf) curves.drawn.exact = { ...lastExact.exact, isPast: true };
    return curves;
  }

  /** @param {Answer} answer @param {Choice} choice */
  function handleAnswer(answer, choice) {
    const key = choices.toCurvesKey(choice);
    if (key !== choices.toCurvesKey(store.current)) return;
    const { spread, exact, ...curves } = answer.curves;
    const { drawn: stochastic } = displayed.curves; // torch's answer lacks the random samples
    lastExact = { key: JSON.stringify([choice.op, choice.f]), exact };
    displayed = {
      key,
      curves: stochastic ? { ...curves, drawn: { ...stochastic, spread, exact } } : curves,
      confirmed: true,
    };
    words.show(answer.words);
    onCurves?.(displayed);
    chart.draw(makeChartData(store.current), "settled");
  }

  /** @param {Status} status @param {string} [text] text of the status; by default, the last one stays */
  function handleStatus(status, text) {
    words.say(status, text);
    if (status === "refused") words.show(NO_WORDS); // the sentences on screen are about other curves
    if (status !== "computed") return;
    words.show(missing);
    lastExact.exact = null;
    if (choices.isStochastic(store.current)) displayed.curves = sampleChoice(store.current, FINE_QUANTILES);
    onCurves?.(displayed);
    chart.draw(makeChartData(store.current), "settled"); // to update the description for screen readers
  }

  /** @param {Choice} choice */
  function makeChartData(choice) {
    const { op, rules } = choices.getEntries(choice);
    const { neutral, rules: bright } = colours();
    const listed = choice.rules.map((rule, index) => {
      const entry = rules[index];
      return { ...rule, label: entry.label, colour: bright[rule.slot % bright.length], entry };
    });
    const { parameters, g, range, learns } = choice;
    const fields = { ...displayed, op, rules: listed, neutral, leastRange: sketch?.room() ?? leastRange };
    const drawing = { loss: choices.getLoss(choice), drawnWords: getCatalogue().drawn };
    const complete = {
      ...fields,
      parameters,
      g,
      range,
      learns,
      layer: choice.layer,
      layerAnswer: layers.find(choice),
      ...drawing,
      words: "",
    };
    const over = options.over?.(complete);
    return {
      ...complete,
      over,
      sketches: options.sketches?.(),
      words: [words.text(), layer.show(complete), learning.text()].filter(Boolean).join(" "),
    };
  }

  const stop = store.subscribe(handleChange);
  if (store.choice) {
    learning.arrange(store.choice);
    layer.arrange(store.choice);
    loss.show(store.choice);
    draw();
  }
  return {
    /** Redraw the chart after a change of the page's colours. */
    refresh,
    /** Show the values of the curves at an x or, with null, at the pinned x. */
    point: chart.point,
    pin: chart.pin,
    reset: chart.reset,
    /** Turn the pencil on or off. Null if formulas cannot be parsed. */
    draw: sketch && sketch.toggle,
    destroy() {
      stop();
      cancelAnimationFrame(frame);
      confirmation?.drop();
      layers.destroy();
      learning.destroy();
      sketch?.destroy();
      chart.destroy();
    },
  };
}
