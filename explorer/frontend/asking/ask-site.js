// Questions where there is no server: what was answered beforehand lies beside the pages, for ops and rules at their
// defaults; what needs no torch is answered by Python in a worker; all else needs the app.

import { isCustom } from "../choice/entries.js";
import { getDefaultView } from "../choice/view.js";
import { formatNumber } from "../formula/numbers.js";
import { joinList } from "../formula/phrases.js";
import { keyOf } from "./ask.js";
import { loadStoredCurves } from "./stored-curves.js";
import { loaded } from "./files.js";

/** @import { Answer, Ask } from "./ask.js" */

const BY_RULE = ["implied", "map", "pull", "rest", "sizes"]; // stored of each rule alone
const STORED = ["distances", "checks", "neighbours", "row", "code", "formulas"]; // with files of explorer/site/stored_answers.py
const PYTHONS = ["entry", "formulas", "code", "read", "judge"];
const COMPUTED = "Computed in the browser";
const UNLOADED = "Torch's values could not be loaded: computed in the browser";
const GONE = { message: "The page's data could not be loaded: reload the page.", again: true };
const APP = "The app answers this: this site has no server.";
const HERE = "This site has this at the defaults of all settings. Elsewhere, the app answers this.";

/**
 * @param {import("./python.js").Python|null} python null where it did not come along
 * @param {{lessons: string[], unknown: Answer}} course the keys of lessons, and the answer about any other key
 * @returns {Ask}
 */
export function createSiteAsk(python, { lessons, unknown }) {
  const isPythons = (/** @type {string} */ question) => python !== null && PYTHONS.includes(question);

  /** @type {(...of: Parameters<Ask>) => Promise<Answer>} */
  async function ask(question, args, { onWait } = {}) {
    if (question === "lesson")
      return lessons.includes(args.key) ? loaded(`lessons/${args.key}.js`).catch(() => GONE) : unknown;
    if (question === "curves") return torchs(args);
    if (question === "lens") return storedLens(args).catch(() => GONE);
    if (BY_RULE.includes(question)) return storedByRule(question, args).catch(() => GONE);
    if (STORED.includes(question)) {
      const known = await storedAnswer(question, args).catch(() => GONE);
      if (known) return known;
    }
    if (python && isPythons(question)) {
      const column = question === "entry" ? { column: 0 } : {};
      return python
        .ask(question, args, onWait)
        .catch(({ message }) => ({ message: `${message}.`, ...column }));
    }
    const nearest = await nearestAnswer(question, args).catch(() => null);
    return nearest ?? { message: APP, lacks: true };
  }

  const has = (/** @type {string} */ question) =>
    ["curves", "lesson", "lens", ...BY_RULE, ...STORED].includes(question) || isPythons(question);
  const prepare = (/** @type {string} */ question) => void python?.prepare(question).catch(() => undefined);
  return Object.assign(ask, { has, prepare });
}

/** @param {Record<string, *>} args @returns {Promise<Answer>} */
async function torchs(args) {
  const found = await loadStoredCurves(args, (name) => loaded(`torch/${name}.js`)).catch(() => GONE);
  if (found && "message" in found) return { message: UNLOADED, lacks: true };
  return found ?? { message: COMPUTED, lacks: true };
}

/** The noise lens at the defaults, with a sentence on each rule. @param {Record<string, *>} args @returns {Promise<Answer>} */
async function storedLens({ op, rules, parameters, noise, width, start, stop, g }) {
  const { lens } = isCustom(op) ? { lens: null } : await fileOf(op);
  const { range, g: usualG } = getDefaultView();
  const isUsual = start === range[0] && stop === range[1] && g === usualG && !Object.keys(parameters).length;
  const isHere = lens && isUsual && noise === lens.noise && width === lens.width;
  if (!isHere || !rules.every((/** @type {string} */ key) => key in lens.rules))
    return { message: HERE, lacks: true };
  const sentences = new Set(rules.map((/** @type {string} */ key) => lens.rules[key]));
  return { ...lens, words: [lens.words, ...sentences].filter(Boolean).join(" ") };
}

/** An answer about several rules, put together from those about each alone. @param {string} question @param {Record<string, *>} args @returns {Promise<Answer>} */
async function storedByRule(question, args) {
  const each = await Promise.all(
    args.rules.map((/** @type {string} */ key) => storedAnswer(question, { ...args, rules: [key] })),
  );
  const [first] = each;
  if (each.includes(null)) return { message: HERE, lacks: true };
  return { ...first, rules: Object.assign({}, ...each.map(({ rules }) => rules)) };
}

/** An answer that came along; null where none did. @param {string} question @param {Record<string, *>} args */
async function storedAnswer(question, args) {
  if (isCustom(args.op)) return null;
  const { pieces, answers } = await fileOf(args.op);
  const numbers = answers.get(keyOf(question, args));
  return numbers ? JSON.parse(numbers.map((/** @type {number} */ number) => pieces[number]).join("")) : null;
}

/** The answer at the defaults to a question on other values, with a note on it. @param {string} question @param {Record<string, *>} args */
async function nearestAnswer(question, { start, stop, ...args }) {
  const [low, high] = getDefaultView().range;
  const range = start === undefined ? {} : { start: low, stop: high };
  const answer = await storedAnswer(question, { ...args, ...range, parameters: {} });
  const said = (/** @type {number} */ value) => formatNumber(value).replace("-", "−");
  const moved = Object.entries(args.parameters).map(
    ([name, value]) => `${name.split(".").pop()} = ${said(value)}`,
  );
  if (start !== undefined && (start !== low || stop !== high))
    moved.push(`the range ${said(start)} to ${said(stop)}`);
  return answer && { ...answer, note: `At the defaults. For ${joinList(moved)} the app checks this.` };
}

/** @type {Map<string, Promise<{pieces: string[], answers: Map<string, number[]>, lens: *}>>} */
const files = new Map();

/** @param {string} op */
function fileOf(op) {
  const known =
    files.get(op) ??
    loaded(`answers/${op}.js`).then(({ pieces, answers, lens }) => {
      const keyed = answers.map((/** @type {[string, *, number[]]} */ [question, args, numbers]) => [
        keyOf(question, args),
        numbers,
      ]);
      return { pieces, answers: new Map(keyed), lens };
    });
  files.set(op, known);
  known.catch(() => files.delete(op));
  return known;
}
