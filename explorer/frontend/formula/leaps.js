/**
 * The u at which a formula that draws leaps or bends, for each x: between them it is smooth.
 *
 * @typedef {"zero"|"whole"|"half"|"value"} Kind where a switch changes: at 0, at whole numbers, at halves between
 *   them, or wherever its value is another
 * @typedef {object} Switch
 * @property {Tree} inner what changes as u does
 * @property {Kind} kind
 * @property {string} along the draw among LINES in which it is a straight line, else ""
 *
 * @typedef {object} Plan of a tree
 * @property {Switch[]} switches
 * @property {string} leapsAt a text that is the same for all that leap at the same u
 * @property {number} degree between them, as a polynomial in u; Infinity where it is none
 *
 * @typedef {{pieces: Tree[], degree: number|null}} Shape of a function: see Function in explorer/formula/functions.py
 * @typedef {{x: Float64Array, g: number, parameters: Record<string, number>, reference?: import("./evaluation.js").Scope}}
 *   Place where a tree is evaluated
 */

import { hasDraw, withTrees } from "./draws.js";
import { evaluate, NORMAL, operands, UNIFORM } from "./evaluation.js";
import { FUNCTIONS } from "./functions.js";
import { ndtr } from "./normal.js";
import { held } from "./records.js";
import { sampling } from "./sampling.js";

/** @import { Node, Tree } from "./evaluation.js" */

const MOST = 512; // leaps over u at one x: more are not told apart
const LOGIT = "log(u() / (1 - u()))";
const U = /** @type {Node} */ (["name", UNIFORM]);
const REST = /** @type {Node} */ (["-", 1, U]); // the u of the twin
const logistic = (/** @type {Tree} */ u) => JSON.stringify(["call", "log", ["/", u, ["-", 1, u]]]);
/** The draws of a logistic distribution by the first. @type {Record<string, Tree>} */
const LOGISTIC = { [logistic(U)]: ["name", LOGIT], [logistic(REST)]: ["-", ["name", LOGIT]] };
/** What a draw is that may stand in a straight line: its ends, as far as floats tell, and u as its function. */
const LINES = {
  [UNIFORM]: { low: 0, high: 1, uniform: (/** @type {number} */ draw) => draw },
  [NORMAL]: { low: -8.3, high: 8.3, uniform: ndtr },
  [LOGIT]: { low: -37, high: 37, uniform: FUNCTIONS.sigmoid },
};
const [REACH, CELLS] = [36, 40]; // of the search in log(u / (1 − u))
const HALVINGS = 56;
const CLOSE = 1e-15;

/** @type {WeakMap<Node, Plan>} */
const plans = new WeakMap();

/** The plan of a tree in x, g, u() and normal(). @param {Tree} tree @returns {Plan} */
export function planOf(tree) {
  if (typeof tree === "number") return { switches: [], leapsAt: "", degree: 0 };
  const known = plans.get(tree) ?? newPlan(tree);
  plans.set(tree, known);
  return known;
}

/** @param {Node} tree @returns {Plan} */
function newPlan(tree) {
  const switches = switchesOf(tree);
  const leapsAt = [...switches.keys()].sort().join();
  return { switches: [...switches.values()], leapsAt, degree: degreeOf(tree) };
}

/** By a text of each. @param {Node} tree @returns {Map<string, Switch>} */
function switchesOf(tree) {
  /** @type {Map<string, Switch>} */
  const found = new Map();
  /** @param {Tree} node */
  const walk = (node) => {
    if (typeof node === "number" || !hasDraw(node) || logitIn(node)) return;
    operands(node).forEach(walk);
    for (const piece of [...piecesOf(node), ...steepIn(node)]) {
      if (!hasDraw(piece)) continue;
      const { inner, kind } = changing(piece);
      if (degreeOf(inner) === 0) continue; // it leaps where its own parts do
      const named = withLogit(inner);
      const along = lineOf(named);
      found.set(JSON.stringify([inner, kind]), { inner: along ? named : inner, kind, along });
    }
  };
  walk(tree);
  return found;
}

/** Trees that are constant where a node is smooth. @param {Node} node @returns {Node[]} */
export function piecesOf(node) {
  const sign = (/** @type {Tree} */ inner) => /** @type {Node} */ (["call", "sign", inner]);
  if (node[0] === "compare") {
    const [, , ...parts] = node;
    return parts.slice(1).map((right, i) => sign(["-", parts[i], right]));
  }
  if (node[0] === "/") return [sign(node[2])];
  if (node[0] === "**") return isPower(node[2]) ? [] : [sign(node[1])];
  if (node[0] !== "call") return [];
  const [, name, ...given] = node;
  const operand = Object.fromEntries(given.map((each, i) => ["abcd"[i], each]));
  return sampling().functions[name].pieces.map((piece) => /** @type {Node} */ (withTrees(piece, operand)));
}

/** A tree that changes where a smooth function, such as a sigmoid, is steep. @param {Node} node @returns {Node[]} */
function steepIn(node) {
  if (node[0] !== "call") return [];
  const { pieces, degree } = sampling().functions[node[1]];
  return pieces.length || degree !== null ? [] : [["call", "sign", node[2]]];
}

/** Whether an exponent makes a polynomial. @param {Tree} exponent */
const isPower = (exponent) => typeof exponent === "number" && Number.isInteger(exponent) && exponent >= 0;

/** @param {Node} piece @returns {{inner: Tree, kind: Kind}} */
function changing(piece) {
  const [inner, name] = [operands(piece)[0], piece[0] === "call" ? piece[1] : ""];
  if (name === "sign") return { inner: withoutMinus(inner), kind: "zero" };
  if (["floor", "ceil", "trunc"].includes(name)) return { inner, kind: "whole" };
  return name === "round" ? { inner, kind: "half" } : { inner: piece, kind: "value" };
}

/** @param {Node} node */
const logitIn = (node) => held(LOGISTIC, JSON.stringify(node));

/** A tree or its opposite, which is 0 at the same u. @param {Tree} tree @returns {Tree} */
function withoutMinus(tree) {
  return typeof tree !== "number" && tree[0] === "-" && tree.length === 2 ? withoutMinus(tree[1]) : tree;
}

/** A tree with a name for log(u / (1 − u)), the draw of a logistic distribution. @param {Tree} tree @returns {Tree} */
function withLogit(tree) {
  if (typeof tree === "number" || tree[0] === "name") return tree;
  const logit = logitIn(tree);
  if (logit) return logit;
  const first = tree.length - operands(tree).length;
  return /** @type {Node} */ (
    tree.map((part, at) => (at < first ? part : withLogit(/** @type {Tree} */ (part))))
  );
}

/** The draw in which a tree is a straight line, "" for none. @param {Tree} tree */
function lineOf(tree) {
  const names = Object.keys(LINES).filter((name) => degreeIn(tree, name) > 0);
  return names.length === 1 && degreeIn(tree, names[0]) === 1 ? names[0] : "";
}

/** The degree of a tree as a polynomial in a draw; Infinity where it is none. @param {Tree} tree @param {string} name @returns {number} */
function degreeIn(tree, name) {
  if (typeof tree === "number") return 0;
  if (tree[0] === "name") return Number(tree[1] === name);
  const degrees = operands(tree).map((each) => degreeIn(each, name));
  if (degrees.every((degree) => degree === 0)) return 0;
  if (tree[0] === "+" || tree[0] === "-") return Math.max(...degrees);
  if (tree[0] === "*") return degrees[0] + degrees[1];
  if (tree[0] === "/" && degrees[1] === 0) return degrees[0];
  return Infinity;
}

/** The degree of a tree in u between its leaps; Infinity where it is no polynomial there. @param {Tree} tree @returns {number} */
function degreeOf(tree) {
  if (typeof tree === "number" || !hasDraw(tree) || tree[0] === "compare" || tree[0] === "~") return 0;
  if (tree[0] === "name") return tree[1] === UNIFORM ? 1 : Infinity;
  const degrees = operands(tree).map(degreeOf);
  const largest = Math.max(...degrees);
  if (tree[0] === "*") return degrees[0] + degrees[1];
  if (tree[0] === "/") return degrees[1] ? Infinity : degrees[0];
  if (tree[0] === "**") {
    if (degrees[0] || degrees[1]) return isPower(tree[2]) ? degrees[0] * Number(tree[2]) : Infinity;
    return 0;
  }
  if (tree[0] !== "call") return largest;
  if (tree[1] === "where") return Math.max(degrees[1], degrees[2]);
  const { degree } = sampling().functions[tree[1]];
  if (degree === 0) return 0;
  return degree === null ? largest && Infinity : largest * degree;
}

/** Functions that jump though they are polynomials between their jumps. */
const JUMPING = ["remainder", "copysign", "hardshrink", "tan"];

/** Whether a tree changes without a jump as u does, so that the slope of its mean is the mean of its slope. @param {Tree} tree @returns {boolean} */
export function isSteady(tree) {
  if (typeof tree === "number" || tree[0] === "name" || !hasDraw(tree)) return true;
  if (["compare", "~", "&", "|"].includes(tree[0])) return false;
  if (tree[0] === "call") {
    const { degree } = sampling().functions[tree[1]];
    if (degree === 0 || tree[1] === "detach" || JUMPING.includes(tree[1])) return false;
  }
  return operands(tree).every(isSteady);
}

/**
 * The u within (0, 1) at which a plan's switches change, ascending, for each x; null for too many.
 * @param {Plan} plan
 * @param {Place} place
 * @returns {number[][]|null}
 */
export function leapsOf({ switches }, place) {
  const found = Array.from(place.x, () => /** @type {number[]} */ ([]));
  for (const each of switches) {
    if (each.along && each.kind !== "value") addStraight(found, each, place);
    else addSearched(found, each, place);
  }
  const leaps = found.map(distinct);
  return leaps.some(({ length }) => length > MOST) ? null : leaps;
}

/** Ascending, those next to one another once: two switches may change at one u. @param {number[]} leaps */
function distinct(leaps) {
  leaps.sort((a, b) => a - b);
  return leaps.filter((leap, i) => i === 0 || leap - leaps[i - 1] > CLOSE);
}

/** Those of a straight line, in closed form. @param {number[][]} found @param {Switch} change @param {Place} place */
function addStraight(found, { inner, kind, along }, place) {
  const [at0, at1] = [0, 1].map((value) =>
    evaluate(inner, {
      ...place,
      draws: { [along]: value },
      parameters: { ...place.parameters, [along]: value },
    }),
  );
  const { low, high, uniform } = LINES[along];
  const shift = kind === "half" ? 0.5 : 0;
  for (let i = 0; i < found.length; i += 1) {
    const slope = at1[i] - at0[i];
    if (!slope || !Number.isFinite(slope)) continue;
    const add = (/** @type {number} */ level) => {
      const draw = (level - at0[i]) / slope;
      if (draw > low && draw < high) found[i].push(uniform(draw));
    };
    if (kind === "zero") add(0);
    else {
      const ends = [low, high].map((end) => at0[i] + slope * end - shift);
      const last = Math.max(...ends);
      for (let level = Math.ceil(Math.min(...ends)); level <= last; level += 1) {
        add(level + shift);
        if (found[i].length > MOST) break;
      }
    }
  }
}

/**
 * A stretch of log(u / (1 − u)) at one x, with a value at both ends; ``side`` is the end that moved last.
 * @typedef {{index: number, low: number, high: number, before: number, after: number, side: number}} Cell
 */

/** Those of anything else: looked for in cells. @param {number[][]} found @param {Switch} change @param {Place} place */
function addSearched(found, { inner, kind }, place) {
  const steps = CELLS + 1;
  const logits = Float64Array.from({ length: steps }, (_, k) => (2 * REACH * k) / CELLS - REACH);
  const index = Int32Array.from({ length: steps * found.length }, (_, at) => Math.floor(at / steps));
  const values = valuesAt(inner, place, index, (at) => logits[at % steps]);
  const level = LEVELS[kind];
  /** @type {Cell[]} */
  const cells = [];
  for (let at = 1; at < values.length; at += 1) {
    if (at % steps === 0 || level(values[at - 1]) === level(values[at])) continue;
    const [low, high] = [logits[(at % steps) - 1], logits[at % steps]];
    cells.push({ index: index[at], low, high, before: values[at - 1], after: values[at], side: 0 });
  }
  const narrowed = kind === "zero" ? crossings(inner, place, cells) : changes(inner, place, cells, level);
  for (const { index: at, low, high } of narrowed) found[at].push(FUNCTIONS.sigmoid((low + high) / 2));
}

/** The values between which a switch of a kind does not change. @type {Record<Kind, (value: number) => number|boolean>} */
const LEVELS = {
  zero: (value) => value > 0,
  whole: Math.floor,
  half: (value) => Math.floor(value + 0.5),
  value: (value) => value,
};

/**
 * The values of a tree at logits of u.
 * @param {Tree} tree
 * @param {Place} place
 * @param {ArrayLike<number>} index of the x of each
 * @param {(at: number) => number} logitAt
 */
function valuesAt(tree, place, index, logitAt) {
  const count = index.length;
  const x = new Float64Array(count);
  const u = new Float64Array(count);
  for (let at = 0; at < count; at += 1) {
    x[at] = place.x[index[at]];
    u[at] = FUNCTIONS.sigmoid(logitAt(at));
  }
  return evaluate(tree, { ...place, x, draws: { [UNIFORM]: u } });
}

/** Cells narrowed to where a tree passes 0: the Illinois method, halved where that is slow. @param {Tree} tree @param {Place} place @param {Cell[]} cells */
function crossings(tree, place, cells) {
  let left = cells;
  for (let turn = 1; turn < HALVINGS && left.length; turn += 1) {
    const next = left.map((cell) => between(cell, turn));
    const values = valuesAt(
      tree,
      place,
      left.map(({ index }) => index),
      (at) => next[at],
    );
    left = left.filter((cell, at) => !narrowed(cell, next[at], values[at]));
  }
  return cells;
}

/** A logit within a cell. @param {Cell} cell @param {number} turn */
function between({ low, high, before, after }, turn) {
  const straight = low - (before * (high - low)) / (after - before);
  return turn % 4 && straight > low && straight < high ? straight : (low + high) / 2;
}

/** Narrow a cell by a value within it; whether that is enough. @param {Cell} cell @param {number} at @param {number} value */
function narrowed(cell, at, value) {
  if (value === 0 || Number.isNaN(value)) {
    [cell.low, cell.high] = [at, at];
    return true;
  }
  const isAfter = value > 0 === cell.after > 0;
  if (isAfter) {
    if (cell.side === 1) cell.before /= 2;
    Object.assign(cell, { high: at, after: value, side: 1 });
  } else {
    if (cell.side === -1) cell.after /= 2;
    Object.assign(cell, { low: at, before: value, side: -1 });
  }
  return cell.high - cell.low <= CLOSE * Math.max(1, Math.abs(at));
}

/** Cells halved until each holds one change. @param {Tree} tree @param {Place} place @param {Cell[]} cells @param {(value: number) => number|boolean} level */
function changes(tree, place, cells, level) {
  let left = cells;
  for (let turn = 0; turn < HALVINGS && left.length && left.length <= MOST * place.x.length; turn += 1) {
    const middles = left.map(({ low, high }) => (low + high) / 2);
    const values = valuesAt(
      tree,
      place,
      left.map(({ index }) => index),
      (at) => middles[at],
    );
    left = left.flatMap((cell, at) => {
      const halves = [
        { ...cell, high: middles[at], after: values[at] },
        { ...cell, low: middles[at], before: values[at] },
      ];
      return halves.filter(({ before, after }) => level(before) !== level(after));
    });
  }
  return left;
}
