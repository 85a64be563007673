// A lesson before its answer: what the reader picks or draws, whether it is right, and what is said to it.

import { getEntries, getSamplingSettings } from "../choice/choice.js";
import { sampleCurves } from "../formula/curves.js";
import { element } from "../elements/dom.js";
import { findEntry, addCustomEntry } from "../choice/entries.js";
import { createDrawing } from "./drawing.js";
import { judge, valueAt } from "./judging.js";
import { createPrediction } from "./prediction.js";
import { shapeWords } from "./shape.js";
import * as say from "./verdict.js";
import { inline } from "./words.js";
import { thumbnail } from "../chart/scene/thumbnail.js";

/** @import { Choice } from "../choice/choice.js" */
/**
 * The prediction of a lesson. ``checked`` says whether it is right, and a sentence to it; ``answer``
 * is the sentence to who asks for the answer; ``saved`` and ``restore`` carry it over a reload.
 * @typedef {{element: HTMLElement, drawing: ReturnType<typeof createDrawing>, draws: boolean,
 *   leastRange: [number, number], checked: () => {right: boolean, words: string}, answer: () => string,
 *   saved: () => {picked: number|null, drawn: (number|null)[]|null},
 *   restore: (state: import("./memory.js").State) => void, pick: (index: number) => void,
 *   missed: () => void, rest: (resting: boolean) => void,
 *   contents: () => (Node|string)[][], right: number, range: [number, number],
 *   alike: (values: ArrayLike<number>) => number}} Forecast ``contents`` are those of the answers, ``alike`` gives the
 *   index of the answer that a whole drawing over the ``range`` is like, -1 for none
 * @typedef {{onTerm: import("./words.js").OnTerm, decide?: string, onCheck: () => void,
 *   onSkip: (() => void)|null, onChange: () => void}} Acts ``decide`` names the button for ``onCheck``
 */

const CHECK = "Check my prediction";
const SPAN = /** @type {[number, number]} */ ([-1, 2]); // of the gradients' axis: neither 0 nor 1 stands out

/**
 * @param {*} prediction of a lesson: ``answers``, the index of the ``right`` one; where one draws, the
 *   ``rule``, and the x ``at`` which the values of all rules are told
 * @param {Choice} choice of the first curves
 * @param {Acts} acts
 * @returns {Forecast}
 */
export function createForecast(prediction, choice, { onTerm, decide = CHECK, onCheck, onSkip, onChange }) {
  const { answers, right, rule, at } = prediction;
  const draws = rule !== undefined;
  for (const { entry } of answers) if (entry) addCustomEntry("rule", entry);
  let curves = /** @type {(ReturnType<typeof sampled>|null)[]|null} */ (null);
  const drawing = createDrawing(choice.range, () => {
    form.drawn();
    onChange();
  });
  const form = createPrediction({
    hint: draws ? "Draw in the lower panel, over the whole width. Or pick a picture:" : "Pick an answer:",
    options: answers.map(contentOf),
    onPick: picked,
    onClear: draws ? cleared : null,
    decide,
    onCheck,
    onSkip,
  });
  if (!draws) drawing.finish();

  /** @param {*} answer @returns {(Node|string)[]} */
  function contentOf({ text, picture }) {
    const pictured = draws || prediction.thumbnails;
    const small = pictured
      ? [thumbnail({ op: getEntries(choice).op, rule: ruleOf(picture) }, getSamplingSettings(choice))]
      : [];
    return [
      ...small,
      text ? element("span", {}, ...inline(text, onTerm)) : wordsOf(sampled(picture, choice)),
    ];
  }

  function picked() {
    if (draws) lay();
    else drawing.clear();
    onChange();
  }

  function cleared() {
    drawing.clear();
    onChange();
  }

  /** Show the picked answer on the chart. */
  function lay() {
    const index = form.picked();
    if (index === null) return;
    const { picture, text } = answers[index];
    if (picture) drawing.lay(sampled(picture, choice));
    else drawing.say(`“${text}”: no curve`);
  }

  function checked() {
    const index = form.picked();
    if (index === null) return checkedDrawing();
    lay();
    if (index !== right) return { right: false, words: say.wrongWords(answers[index]) };
    const guess = draws ? valueAt(sampled(rule, choice), at) : NaN;
    return { right: true, words: `${say.rightWords(answers[index])} ${corner(guess)}`.trim() };
  }

  function checkedDrawing() {
    const hand = drawing.curve();
    const judgement = judge(hand, sampled(rule, choice));
    if (!judgement) return { right: false, words: "Nothing is drawn yet." };
    if (judgement.right) {
      const words = say.drawnRightWords(judgement, nameOf(rule));
      return {
        right: judgement.whole,
        words: judgement.whole ? `${words} ${corner(drawing.at(at))}`.trim() : words,
      };
    }
    const alike = answers.find(
      (/** @type {*} */ { picture }) => judge(hand, sampled(picture, choice))?.right,
    );
    return { right: false, words: alike ? say.wrongWords(alike) : say.drawnWrongWords(judgement, hand) };
  }

  /** @param {ArrayLike<number>} values of a drawing, in cells of one width */
  function alike(values) {
    const width = (choice.range[1] - choice.range[0]) / values.length;
    const hand = { x: Array.from(values, (_, cell) => choice.range[0] + (cell + 0.5) * width), y: values };
    return truths().findIndex((truth) => {
      const judgement = truth && judge(hand, truth);
      return judgement?.right && judgement.whole;
    });
  }

  /** The curve of each answer, computed once for the drawings of a whole class. */
  function truths() {
    curves ??= answers.map((/** @type {*} */ { picture }) => picture && sampled(picture, choice));
    return /** @type {(ReturnType<typeof sampled>|null)[]} */ (curves);
  }

  function answer() {
    const hand = drawing.curve();
    const judgement = draws && form.picked() === null ? judge(hand, sampled(rule, choice)) : null;
    const wrong = judgement && !judgement.right;
    const apart = wrong ? say.apartWords(judgement, hand, sampled(rule, choice), nameOf(rule)) : "";
    return [apart, say.answerWords(answers[right]), corner(wrong ? drawing.at(at) : NaN)]
      .filter(Boolean)
      .join(" ");
  }

  /** The range of the gradients' axis, which holds every answer. @returns {[number, number]} */
  function leastRangeOf() {
    const pictures = answers.flatMap((/** @type {*} */ { picture }) =>
      picture ? [sampled(picture, choice)] : [],
    );
    const values = pictures.flatMap((/** @type {*} */ { y }) => Array.from(y)).filter(Number.isFinite);
    const high = Math.max(SPAN[1], ...values);
    return [Math.min(SPAN[0], ...values, -high / 4), high]; // the legend stands below most curves
  }

  /** The sentence on the x that the lesson is about. @param {number} guess */
  function corner(guess) {
    return typeof at === "number" ? say.pointWords(at, guess, valuesAt(at, choice)) : "";
  }

  return {
    element: form.element,
    drawing,
    draws,
    leastRange: leastRangeOf(),
    checked,
    answer,
    saved: () => ({ picked: form.picked(), drawn: form.picked() === null && draws ? drawing.saved() : null }),
    restore({ picked: index, drawn, missed }) {
      if (index !== null && index < answers.length) form.pick(index);
      if (drawn) {
        drawing.restore(drawn);
        form.drawn();
      } else if (draws || missed) lay();
    },
    /** Pick an answer for the reader, if there are so many. */
    pick(index) {
      if (index >= answers.length) return;
      form.pick(index);
      picked();
    },
    /** It was not right: from now on the answer can be asked for by this name. */
    missed: () => form.offerAnswer(),
    rest: form.rest,
    contents: () => answers.map(contentOf),
    right,
    range: choice.range,
    alike,
  };
}

/** @param {string} key of a rule that is known */
function ruleOf(key) {
  return /** @type {import("../formula/entry.js").Rule} */ (findEntry("rule", key));
}

/** @param {string} key of a rule */
function nameOf(key) {
  const { label, formula } = ruleOf(key);
  return formula ? `the gradient of ${label}` : "torch's own gradient";
}

/**
 * The shape of a sampled curve in words.
 * @param {{x: Float64Array, y: Float64Array, marks: Int8Array}} curve
 */
function wordsOf({ x, y, marks }) {
  const even = (/** @type {Float64Array} */ values) => values.filter((_, i) => !marks[i]);
  return shapeWords(even(x), even(y));
}

/** @param {string} key @param {Choice} choice */
function sampled(key, choice) {
  const rule = ruleOf(key);
  const { x, marks, gradients } = sampleCurves(
    { op: getEntries(choice).op, rules: [rule] },
    getSamplingSettings(choice),
  );
  return { x, marks, y: /** @type {Float64Array} */ (gradients[key]) };
}

/** The gradient of each rule of a choice at an x of its curves. @param {number} at @param {Choice} choice */
function valuesAt(at, choice) {
  return choice.rules.map(({ key }) => {
    const { label, formula } = ruleOf(key);
    return { label: formula ? label : "torch", value: valueAt(sampled(key, choice), at) };
  });
}
