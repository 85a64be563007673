/**
 * Ops and rules as written by explorer/instrument/document.py, custom formulas included.
 *
 * @typedef {object} Parameter
 * @property {string} name
 * @property {number} default
 * @property {number} low
 * @property {number} high
 * @property {string} meaning
 * @property {string|null} below the parameter it must not cross, such as hi for lo
 * @property {[number, number]} reach the widest bounds of its slider
 * @property {string} scale
 * @property {string} domain the values for which the formulas are meaningful, or "" for all
 * @property {string} quantity the quantity it represents, or "" to adopt the meaning of a namesake
 * @property {string} plain the name in the rule's own formulas if ``adaptRule`` changed it; otherwise ""
 *
 * @typedef {{offset: Tree, spacing: Tree, low: Tree|null, high: Tree|null}} Lattice kinks at even distances
 *
 * @typedef {{tree: Tree, turns: Tree[]}} Piece a tree that is constant between kinks, and trees whose sign changes at
 *   its extrema
 *
 * @typedef {object} Common
 * @property {string} key
 * @property {string} label
 * @property {string[]} also further common names
 * @property {string} purpose
 * @property {string} source
 * @property {string} note
 * @property {string|null} formula null if torch differentiates the op
 * @property {Parameter[]} parameters
 * @property {(Tree|Lattice)[]|null} kinks the declared kinks; null if they are searched
 * @property {Piece[]} [pieces] trees at whose changes a kink may be; like slopes, only if kinks are searched
 * @property {{x: Tree, y: Tree}} [slopes] of the formula in x and in y
 * @property {string} [untrained] the reason why no net can be trained with it
 * @property {string} [unspiking] the reason why no spiking net can be trained with it
 * @property {{name: string, sign: number}[]} movable the parameters whose value times ``sign`` is a kink
 *
 * @typedef {{tree: Tree, text: string, scale: Tree|null, scaleText: string|null, atBound: string,
 *   note: string, pieces?: Piece[], slopes?: {x: Tree, y: Tree}}} Learned one element's contribution to a
 *   parameter's gradient; ``scale`` is a factor of the sum, in the parameters and N; ``pieces`` and ``slopes`` are as
 *   for an entry that declares no kinks
 * @typedef {{outer: Tree, ratio: Tree}} Following a contribution of the form outer + rule * ratio
 * @typedef {{tree: Tree, text: string, gradient?: Tree}} Derivative torch's derivative by a parameter; ``gradient`` is
 *   the gradient for x if it differs when the parameter is a tensor
 *
 * @typedef {Common & {inside: string, tree: Tree, gradient: Tree|null, autograd: string, flat: boolean, family: string, judging?: string,
 *   follows: {[parameter: string]: Following}, torch: {[parameter: string]: Derivative}}} Op ``inside`` is the
 *   label within a sentence, ``gradient`` is autograd's, null if it has no formula, ``autograd`` describes it in a few
 *   words; a ``flat`` op is constant between its kinks; ``judging`` explains how to evaluate a net with a stochastic op
 * @typedef {Common & {tree: Tree|null, brief: string, usesY: boolean, group: string, suits: string[], otherwise: string,
 *   learned: {[parameter: string]: Learned}}} Rule ``brief`` is the definition in about six words
 * @typedef {Op|Rule} Entry
 */

/** @import { Tree } from "./evaluation.js" */

export {};
