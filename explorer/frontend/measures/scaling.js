/**
 * A rule made higher or wider by a factor: its formula as a tree and as text, and its kinks, with numbers for all
 * parameters but those that stay.
 */

import { operands } from "../formula/evaluation.js";
import { floatText } from "../formula/python.js";

/** @import { Lattice, Piece, Rule } from "../formula/entry.js" */
/** @import { Node, Tree } from "../formula/evaluation.js" */
/**
 * The change of a rule: its values by ``high``, and x − ``centre`` by ``wide``.
 * @typedef {{high: number, wide: number, centre: number}} Scale
 */

const SIGN = 6; // how tightly operators bind, as in explorer/formula/tree.py
const ATOM = 8;
/** @type {Record<string, number>} */
const POWERS = { compare: 1, "|": 2, "&": 3, "+": 4, "-": 4, "*": 5, "/": 5, "**": 7 };
const WHOLE = 1e15; // below which a whole number is written without a point

/**
 * The fields of a rule that change.
 * @param {Rule & {tree: Tree}} rule
 * @param {Record<string, number>} parameters those for which numbers stand
 * @param {Scale} scale
 */
export function scaledFields(rule, parameters, scale) {
  const inner = innerOf(scale);
  const within = (/** @type {Tree} */ tree) => substituted(tree, parameters, inner);
  const outer = (/** @type {Tree} */ tree, factor = scale.high) =>
    factor === 1 ? within(tree) : /** @type {Tree} */ (["*", factor, within(tree)]);
  const tree = outer(rule.tree);
  const { kinks, pieces, slopes } = rule;
  const watched = pieces &&
    slopes && {
      pieces: pieces.map((/** @type {Piece} */ piece) => ({
        tree: within(piece.tree),
        turns: piece.turns.map(within),
      })),
      slopes: { x: outer(slopes.x, scale.high / scale.wide), y: outer(slopes.y) },
    };
  return {
    ...{ tree, formula: printed(tree).text, movable: [] },
    kinks: kinks && kinks.map((kink) => movedKink(kink, within, scale)),
    ...watched,
  };
}

/** The tree that stands for x. @param {Scale} scale @returns {Tree} */
function innerOf({ wide, centre }) {
  if (wide === 1) return ["name", "x"];
  const factor = rounded(1 / wide);
  if (centre === 0) return ["*", factor, ["name", "x"]];
  const distance = /** @type {Tree} */ ([centre < 0 ? "+" : "-", ["name", "x"], Math.abs(centre)]);
  return ["+", number(centre), ["*", factor, distance]];
}

/** A factor as it is written: six digits. @param {number} factor */
export function rounded(factor) {
  return Number(factor.toPrecision(6));
}

/** @param {number} value @returns {Tree} */
function number(value) {
  return value < 0 ? ["-", -value] : value;
}

/**
 * A tree with numbers for parameters, and another tree for x.
 * @param {Tree} tree
 * @param {Record<string, number>} parameters
 * @param {Tree} inner
 * @returns {Tree}
 */
function substituted(tree, parameters, inner) {
  if (typeof tree === "number") return tree;
  if (tree[0] === "name") {
    const [, name] = tree;
    if (name === "x") return inner;
    return Object.hasOwn(parameters, name) ? number(parameters[name]) : tree;
  }
  const parts = operands(tree);
  const head = tree.slice(0, tree.length - parts.length);
  return /** @type {Node} */ ([...head, ...parts.map((part) => substituted(part, parameters, inner))]);
}

/** @param {Tree|Lattice} kink @param {(tree: Tree) => Tree} within @param {Scale} scale @returns {Tree|Lattice} */
function movedKink(kink, within, { wide, centre }) {
  /** @param {Tree} tree @returns {Tree} */
  const moved = (tree) =>
    wide === 1 ? within(tree) : ["+", number(centre), ["*", wide, ["-", within(tree), number(centre)]]];
  if (typeof kink === "number" || !("spacing" in kink)) return moved(kink);
  return {
    offset: moved(kink.offset),
    spacing: ["*", wide, within(kink.spacing)],
    low: kink.low === null ? null : moved(kink.low),
    high: kink.high === null ? null : moved(kink.high),
  };
}

/** The number of parts of a tree. @param {Tree} tree @returns {number} */
export function partsOf(tree) {
  if (typeof tree === "number" || tree[0] === "name") return 1;
  return (
    1 +
    operands(tree)
      .map(partsOf)
      .reduce((sum, count) => sum + count, 0)
  );
}

/**
 * A formula as Python writes it, and how tightly its outermost operator binds: explorer/formula/printing.py.
 * @param {Tree} tree
 * @returns {{text: string, level: number}}
 */
export function printed(tree) {
  if (typeof tree === "number") return { text: numberText(tree), level: ATOM };
  const inside = (/** @type {Tree} */ part, /** @type {number} */ least) => {
    const { text, level } = printed(part);
    return level < least ? `(${text})` : text;
  };
  if (tree[0] === "name") return { text: tree[1], level: ATOM };
  if (tree[0] === "call" || tree[0] === "f") {
    const name = tree[0] === "f" ? "f" : tree[1];
    return {
      text: `${name}(${operands(tree)
        .map((part) => inside(part, 0))
        .join(", ")})`,
      level: ATOM,
    };
  }
  if (tree[0] === "compare") {
    const [first, ...rest] = /** @type {Tree[]} */ (tree.slice(2)).map((part) =>
      inside(part, POWERS.compare + 1),
    );
    const links = rest.map((part, i) => ` ${tree[1][i]} ${part}`);
    return { text: first + links.join(""), level: POWERS.compare };
  }
  const [sign, left, right] = /** @type {[string, Tree, Tree|undefined]} */ (tree);
  if (right === undefined) return { text: sign + inside(left, SIGN), level: SIGN };
  const level = POWERS[sign];
  const [before, behind] = sign === "**" ? [ATOM, SIGN] : [level, level + 1];
  return { text: `${inside(left, before)} ${sign} ${inside(right, behind)}`, level };
}

/** @param {number} value */
function numberText(value) {
  return Number.isInteger(value) && value < WHOLE ? String(value) : floatText(value);
}
