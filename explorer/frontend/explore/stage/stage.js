// The chart's side of the choice: the browser's curves at once, torch's at rest.

import { createChart } from "../../chart/view/chart.js";
import {
  getControls,
  toCurvesKey,
  getEntries,
  isStochastic,
  getLoss,
  getSamplingSettings,
  setParameter,
  setRange,
} from "../../choice/choice.js";
import { getCatalogue } from "../../choice/entries.js";
import { QUICK_POINTS, sampleCurves } from "../../formula/curves.js";
import { PREVIEW_QUANTILES, FINE_QUANTILES } from "../../formula/means.js";
import { getSampling } from "../../formula/sampling.js";
import { createCarried } from "./carried.js";
import { createDrawing } from "./drawing.js";
import { createLayerWords } from "./layers.js";
import { createLearning } from "./learning.js";
import { createLoss } from "./loss.js";
import { createLayerQuestions } from "./layer-questions.js";
import { createWords, NO_WORDS } from "./words.js";

/** The curves of the chart at rest. @typedef {{curves: import("../../measures/csv.js").Sampled & {marks: ArrayLike<number>, kinks: Record<string, number[]|null>}, confirmed: boolean}} Displayed */
/** @import { Choice } from "../../choice/choice.js" */
/** @import { Answer, Confirm, Status } from "../../asking/confirm.js" */
/** @typedef {"moving"|"settled"} Phase */

/** @param {import("../../formula/curves.js").Curves} curves */
const isQuick = ({ drawn, x }) => drawn !== undefined && x.length < getSampling().points;
/** @import { Over } from "../../chart/scene/picture.js" */

/**
 * The chart of a store's choice with its words.
 * @param {{words: HTMLElement, chart: HTMLElement}} hosts
 * @param {{store: import("../../choice/store.js").Store, plotly: string|Promise<*>, confirm: Confirm|null,
 *   ask: import("../../asking/ask.js").Ask, explanation?: string, elsewhere?: string, colours: () => {neutral: string, rules: string[]}, words?: import("./words.js").Words,
 *   leastRange?: [number, number], over?: Over, carries?: boolean, read?: import("../../cards/own.js").Read|null, hasData?: boolean, onFrame?: (frame: import("../../chart/scene/panels.js").Frame) => void,
 *   onCurves?: (displayed: Displayed) => void}} options
 *   ``plotly`` is the address of plotly.js; ``confirm`` makes the source of torch's curves, null if there
 *   is none, and ``explanation`` says what its sign means; ``words`` those of the start; ``leastRange`` and ``onFrame``
 *   as the chart takes them, ``over`` gives further curves of its picture, ``read`` reads the formula of a loss, ``elsewhere`` stands where torch's sentences are missing, ``carries`` says whether
 *   data carried from a training are drawn, ``hasData`` whether data lie beneath what learns, as they do if nothing is said; ``onCurves`` gets the curves at rest
 */
export function createStage(hosts, options) {
  const { store, confirm, elsewhere = "", colours, words: first, leastRange, onCurves } = options;
  const words = createWords(hosts.words, options.explanation);
  const carried = options.carries ? createCarried() : null;
  const learning = createLearning(store, options.ask, colours, options.hasData ?? true);
  const sketch = options.read ? createDrawing(store, { read: options.read, colours, onTurn: refresh }) : null;
  const chart = createChart(hosts.chart, {
    plotly: options.plotly,
    onView: (start, stop, phase) =>
      store.change(setRange(store.current, start, stop), { phase, target: "view" }),
    onParameter: grasped,
    pencil: sketch?.pencil,
    isLabelled: () => hosts.chart.closest(".calm") !== null,
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
  const layers = createLayerQuestions(options.ask, () => chart.draw(picture(store.current), phase));
  const confirmation = confirm?.({ onAnswer: answered, onStatus: said });
  let frame = 0;
  /** @type {Phase} */
  let phase = "settled";
  const missing = { ...NO_WORDS, main: elsewhere };
  const otherwise = confirm ? null : missing;
  const start = { key: first && toCurvesKey(store.current), words: first };
  let past = {
    key: "",
    exact: /** @type {import("../../formula/stochastic.js").UnbiasedGradient|null} */ (null),
  };
  let displayed = { key: "", curves: /** @type {*} */ (null), confirmed: false };

  function refresh() {
    frame ||= requestAnimationFrame(draw);
  }

  /** @param {string} name @param {number} value @param {Phase} how */
  function grasped(name, value, how) {
    const control = getControls(store.current).find((one) => one.name === name);
    if (control) store.change(setParameter(store.current, control, value), { phase: how, target: null });
  }

  /** @param {Choice} _choice @param {{phase: Phase}} change */
  function changed(_choice, change) {
    phase = change.phase;
    learning.arrange(store.current); // before the curves: it takes space from them
    layer.arrange(store.current);
    loss.show(store.current);
    if (phase === "settled") draw();
    else frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    cancelAnimationFrame(frame);
    frame = 0;
    const choice = store.current;
    const key = toCurvesKey(choice);
    if (key !== displayed.key || (phase === "settled" && isQuick(displayed.curves))) {
      confirmation?.drop();
      words.show(key === start.key ? start.words : otherwise);
      displayed = { key, curves: sampled(choice), confirmed: false };
    }
    chart.draw(picture(choice), phase);
    learning.show(choice);
    if (phase === "settled") onCurves?.(displayed);
    if (phase === "settled" && !displayed.confirmed) confirmation?.ask(choice);
  }

  /** Curves from the browser; of what draws fewer points while a hand moves, and the last exact gradient. @param {Choice} choice */
  function sampled(choice, quantiles = confirm || phase === "moving" ? PREVIEW_QUANTILES : FINE_QUANTILES) {
    const settings = { ...getSamplingSettings(choice), learns: choice.learns, loss: getLoss(choice) };
    const points = phase === "moving" && isStochastic(choice) ? QUICK_POINTS : getSampling().points;
    const curves = sampleCurves(getEntries(choice), settings, { points, quantiles });
    const isOf = past.key === JSON.stringify([choice.op, choice.f]);
    if (curves.drawn && past.exact && isOf) curves.drawn.exact = { ...past.exact, isPast: true };
    return curves;
  }

  /** @param {Answer} answer @param {Choice} choice */
  function answered(answer, choice) {
    const key = toCurvesKey(choice);
    if (key !== toCurvesKey(store.current)) return;
    const { spread, exact, ...curves } = answer.curves;
    const { drawn } = displayed.curves; // which has single draws
    past = { key: JSON.stringify([choice.op, choice.f]), exact };
    displayed = {
      key,
      curves: drawn ? { ...curves, drawn: { ...drawn, spread, exact } } : curves,
      confirmed: true,
    };
    words.show(answer.words);
    onCurves?.(displayed);
    chart.draw(picture(store.current), "settled");
  }

  /** @param {Status} status @param {string} [text] */
  function said(status, text) {
    words.say(status, text);
    if (status === "refused") words.show(NO_WORDS); // those on display are of other curves
    if (status !== "computed") return;
    words.show(missing);
    past.exact = null;
    if (isStochastic(store.current)) displayed.curves = sampled(store.current, FINE_QUANTILES);
    onCurves?.(displayed);
    chart.draw(picture(store.current), "settled"); // its description has the words too
  }

  /** @param {Choice} choice */
  function picture(choice) {
    const { op, rules } = getEntries(choice);
    const { neutral, rules: bright } = colours();
    const listed = choice.rules.map((rule, index) => {
      const entry = rules[index];
      return { ...rule, label: entry.label, colour: bright[rule.slot % bright.length], entry };
    });
    const { parameters, g, range, learns } = choice;
    const drawn = { ...displayed, op, rules: listed, neutral, leastRange: sketch?.room() ?? leastRange };
    const drawing = { loss: getLoss(choice), drawnWords: getCatalogue().drawn };
    const whole = {
      ...drawn,
      parameters,
      g,
      range,
      learns,
      layer: choice.layer,
      layerAnswer: layers.find(choice),
      ...drawing,
      words: "",
    };
    const over = options.over?.(whole);
    return {
      ...whole,
      over,
      words: [words.text(), layer.show(whole), learning.text()].filter(Boolean).join(" "),
    };
  }

  const stop = store.subscribe(changed);
  if (store.choice) {
    learning.arrange(store.choice);
    layer.arrange(store.choice);
    loss.show(store.choice);
    draw();
  }
  return {
    /** Draw anew: the colours have changed. */
    refresh,
    /** Show an x, or none, as if it were pointed at. */
    point: chart.point,
    /** Show an x for good. */
    pin: chart.pin,
    /** Turn the pencil on or off; null where nobody reads a formula. */
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
