// The reader's prediction of the answer to a lesson's question, and the reply to it.

import { getEntries, getSamplingSettings } from "../choice/choice.js";
import { sampleCurves } from "../formula/curves.js";
import { element } from "../elements/dom.js";
import { findEntry, addCustomEntry } from "../choice/entries.js";
import { createDrawing } from "./drawing.js";
import { judge, interpolateAt } from "./judging.js";
import { createPrediction } from "./prediction.js";
import { describeShape } from "./shape.js";
import * as say from "./verdict.js";
import { renderInline } from "./words.js";
import { drawThumbnail } from "../chart/scene/thumbnail.js";

/** @import { Choice } from "../choice/choice.js" */
/**
 * A lesson's question, with the reader's prediction of the answer. ``draws``: whether the reader can draw it;
 * ``checked``: returns whether it is right, and a reply; ``answer``: returns the text that reveals the answer, unless
 * ``isTold`` after the reply to a wrong one; ``saved``, ``restore``: keep the prediction across reloads; ``contents``,
 * ``whys``: return the content of each answer and the reply to it; ``labels``: the labels of the answers' rules, "" for
 * none; ``right``: index of the right answer; ``alike``: returns the index of the answer that a complete drawing
 * resembles, or -1; ``missed``: offers the answer after a wrong prediction; ``rest``: disables the button, with a label;
 * ``describe``: returns the prediction as text.
 * @typedef {{element: HTMLElement, drawing: ReturnType<typeof createDrawing>, draws: boolean, leastRange: [number,
 *   number], checked: () => {right: boolean, words: string}, answer: (isTold: boolean) => string, saved: () => {picked:
 *   number|null, drawn: (number|null)[]|null}, restore: (state: import("./memory.js").State) => void, pick: (index:
 *   number) => void, missed: () => void, rest: (resting: boolean, words?: string) => void, describe: () => string,
 *   contents: () => (Node|string)[][], whys: () => (Node|string)[][], labels: string[], right: number, choice: Choice,
 *   alike: (values: ArrayLike<number>) => number}} Forecast
 * @typedef {{onTerm: import("./words.js").OnTerm, decide?: string, onCheck: () => void, onSkip: (() => void)|null,
 *   onChange: () => void}} Acts callbacks of the form; ``onCheck``: called when the button labelled ``decide`` is
 *   pressed; ``onSkip``: called when the reader asks for the answer
 */

const CHECK = "Check my prediction";
const SPAN = /** @type {[number, number]} */ ([-1, 2]); // initial gradient axis; its ends suggest neither 0 nor 1

/**
 * Create the form with which the reader predicts the answer to a lesson's question.
 * @param {*} prediction the question from the lesson's data: ``answers``, and the index of the ``right`` one; for a
 *   drawing its ``rule``; the x (``at``) for which the reply gives the values of all rules, if any
 * @param {Choice} choice settings of the first chart @param {Acts} acts @returns {Forecast}
 */
export function createForecast(prediction, choice, { onTerm, decide = CHECK, onCheck, onSkip, onChange }) {
  const { answers, right, rule, at } = prediction;
  const draws = rule !== undefined;
  const isPictured = draws || prediction.thumbnails;
  const sample = (/** @type {string} */ key) => sampleGradient(key, choice);
  for (const { entry } of answers) if (entry) addCustomEntry("rule", entry);
  let curves = /** @type {(ReturnType<typeof sampleGradient>|null)[]} */ ([]); // of the answers, once needed
  const leastRange = getMinRange();
  const drawing = createDrawing(choice.range, handleDrawn);
  const form = createPrediction({
    hint: draws ? "Draw across the lower panel, or pick a picture:" : "Pick an answer:",
    options: answers.map(renderAnswer),
    isPictured,
    onPick: handlePick,
    onClear: draws ? handleClear : null,
    decide,
    onCheck,
    onSkip,
  });
  if (!draws) drawing.finish();
  const judgeHand = (/** @type {import("./judging.js").Curve} */ hand, /** @type {*} */ truth) =>
    judge(hand, truth, leastRange[1] - leastRange[0]);

  /**
   * Return the thumbnail and the text of an answer. Without a text, its curve is described.
   * @param {*} answer @returns {(Node|string)[]}
   */
  function renderAnswer({ text, picture }) {
    const words = text ? element("span", {}, ...renderInline(text, onTerm)) : describeSample(sample(picture));
    if (!isPictured) return [words];
    const pair = { op: getEntries(choice).op, rules: [findRuleEntry(picture)] };
    return [drawThumbnail(pair, getSamplingSettings(choice), leastRange), words];
  }

  function handleDrawn() {
    drawing.shade([]);
    form.markDrawn();
    onChange();
  }

  function handleClear() {
    drawing.clear();
    drawing.shade([]);
    onChange();
  }

  function handlePick() {
    drawing.shade([]);
    if (draws) showPicked();
    else drawing.clear();
    onChange();
  }

  function showPicked() {
    const index = form.picked();
    if (index === null || !isPictured) return;
    drawing.showCurve(sample(answers[index].picture), draws ? "your prediction" : "your answer");
  }

  function check() {
    const index = form.picked();
    if (index === null) return checkDrawing();
    showPicked();
    if (index !== right) return { right: false, words: say.describeWrong(answers[index]) };
    const guess = draws ? interpolateAt(sample(rule), at) : NaN;
    return { right: true, words: `${say.describeRight(answers[index])} ${describePoint(guess)}`.trim() };
  }

  function checkDrawing() {
    const hand = drawing.curve();
    const judgement = judgeHand(hand, sample(rule));
    if (!judgement) return { right: false, words: "Nothing is drawn yet." };
    if (judgement.right) {
      const words = say.describeRightDrawing(judgement);
      return {
        right: judgement.whole,
        words: judgement.whole ? `${words} ${describePoint(drawing.at(at))}`.trim() : words,
      };
    }
    drawing.shade(judgement.deviations);
    const match = findMatch(hand);
    const words = match ? say.describeWrong(match) : say.describeWrongDrawing(judgement, hand);
    return { right: false, words };
  }

  /** Return the answer that a drawing resembles, or undefined. @param {import("./judging.js").Curve} hand */
  function findMatch(hand) {
    return answers.find((/** @type {*} */ { picture }) => judgeHand(hand, sample(picture))?.right);
  }

  /** @param {ArrayLike<number>} values heights of a drawing in cells of equal width */
  function findAnswer(values) {
    const width = (choice.range[1] - choice.range[0]) / values.length;
    const hand = { x: Array.from(values, (_, cell) => choice.range[0] + (cell + 0.5) * width), y: values };
    if (!curves.length) curves = answers.map((/** @type {*} */ { picture }) => picture && sample(picture));
    return curves.findIndex((truth) => {
      const judgement = truth && judgeHand(hand, truth);
      return judgement?.right && judgement.whole;
    });
  }

  function answer(/** @type {boolean} */ isTold) {
    const hand = drawing.curve();
    const judgement = draws && form.picked() === null ? judgeHand(hand, sample(rule)) : null;
    const wrong = judgement && !judgement.right;
    const own = wrong ? findMatch(hand) : answers[form.picked() ?? -1];
    const distance = wrong ? say.describeDistance(judgement, hand, sample(rule)) : "";
    const point = describePoint(wrong ? drawing.at(at) : NaN);
    const parts = [isTold || !own ? distance : own.why, say.describeAnswer(answers[right]), point];
    return parts.filter(Boolean).join(" ");
  }

  /** @returns {[number, number]} */
  function getMinRange() {
    const pictures = answers.flatMap((/** @type {*} */ { picture }) => (picture ? [sample(picture)] : []));
    const values = pictures.flatMap((/** @type {*} */ { y }) => Array.from(y)).filter(Number.isFinite);
    const high = Math.max(SPAN[1], ...values);
    return [Math.min(SPAN[0], ...values, -high / 4), high]; // room for the legend below most curves
  }

  /**
   * Describe the drawn and the true values at the x that the lesson names. Returns "" if it names none.
   * @param {number} guess the drawn value, or NaN
   */
  function describePoint(guess) {
    if (typeof at !== "number") return "";
    const values = choice.rules.map(({ key }) => {
      const { label, formula } = findRuleEntry(key);
      return { label: formula ? label : "torch", value: interpolateAt(sample(key), at) };
    });
    return say.describePoint(at, guess, values);
  }

  return {
    element: form.element,
    drawing,
    draws,
    leastRange,
    checked: check,
    answer,
    saved: () => ({ picked: form.picked(), drawn: form.picked() === null && draws ? drawing.saved() : null }),
    restore({ picked: index, drawn, missed }) {
      if (index !== null && index < answers.length) form.pick(index);
      if (drawn) {
        drawing.restore(drawn);
        form.markDrawn();
      } else if (draws || missed) showPicked();
    },
    pick(index) {
      if (index >= answers.length) return;
      form.pick(index);
      handlePick();
    },
    /** Show the button that reveals the answer. Called after a wrong prediction. */
    missed: () => form.offerAnswer(),
    rest: form.setResting,
    describe() {
      const answer = answers[form.picked() ?? -1];
      return answer ? `“${answer.text || describeSample(sample(answer.picture))}”` : "your drawing";
    },
    contents: () => answers.map(renderAnswer),
    whys: () => answers.map((/** @type {*} */ { why }) => renderInline(why, onTerm)),
    labels: answers.map((/** @type {*} */ { picture }) => (picture ? findRuleEntry(picture).label : "")),
    right,
    choice,
    alike: findAnswer,
  };
}

/** @param {string} key the key of an existing rule */
function findRuleEntry(key) {
  return /** @type {import("../formula/entry.js").Rule} */ (findEntry("rule", key));
}

/**
 * Describe the shape of a sampled curve, without the points at its kinks.
 * @param {{x: Float64Array, y: Float64Array, marks: Int8Array}} curve
 */
function describeSample({ x, y, marks }) {
  const dropMarked = (/** @type {Float64Array} */ values) => values.filter((_, i) => !marks[i]);
  return describeShape(dropMarked(x), dropMarked(y));
}

/** @param {string} key @param {Choice} choice */
function sampleGradient(key, choice) {
  const rule = findRuleEntry(key);
  const { x, marks, gradients } = sampleCurves(
    { op: getEntries(choice).op, rules: [rule] },
    getSamplingSettings(choice),
  );
  return { x, marks, y: /** @type {Float64Array} */ (gradients[key]) };
}
