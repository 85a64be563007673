/**
 * Ops and rules as explorer/instrument/document.py writes them, own formulas included.
 *
 * @typedef {object} Parameter
 * @property {string} name
 * @property {number} default
 * @property {number} low
 * @property {number} high
 * @property {string} meaning
 * @property {string|null} below the parameter it must not cross, such as hi for lo
 * @property {[number, number]} reach how far its slider may be widened
 * @property {string} scale
 * @property {string} domain where the formulas mean something, or "" for everywhere
 * @property {string} quantity what the name stands for, or "" for whatever another means by it
 * @property {string} plain the name in the rule's own formulas, where ``beside`` gave it another; else ""
 *
 * @typedef {{offset: Tree, spacing: Tree, low: Tree|null, high: Tree|null}} Lattice kinks at even distances
 *
 * @typedef {{tree: Tree, turns: Tree[]}} Piece constant between kinks, with what changes where it may touch
 *   one
 *
 * @typedef {object} Common
 * @property {string} key
 * @property {string} label
 * @property {string[]} also other names people know it by
 * @property {string} purpose
 * @property {string} source
 * @property {string} note
 * @property {string|null} formula null where torch differentiates the op
 * @property {Parameter[]} parameters
 * @property {(Tree|Lattice)[]|null} kinks the declared ones; null where they are searched for
 * @property {Piece[]} [pieces] at whose changes a kink may lie; like slopes, only where kinks are searched
 *   for
 * @property {{x: Tree, y: Tree}} [slopes] of the formula in x and in y
 * @property {string} [untrained] why no net trains it
 * @property {string} [unspiking] why no net of units that spike does
 * @property {{name: string, sign: number}[]} movable the parameters that are a kink, or minus one
 *
 * @typedef {{tree: Tree, text: string, scale: Tree|null, scaleText: string|null, atBound: string,
 *   note: string, pieces?: Piece[], slopes?: {x: Tree, y: Tree}}} Learned what one element contributes to a
 *   parameter's gradient; ``scale``, on the sum, in the parameters and N; ``pieces`` and ``slopes`` as of an
 *   entry that declares no kinks
 * @typedef {{outer: Tree, ratio: Tree}} Following a contribution that is outer + rule * ratio
 * @typedef {{tree: Tree, text: string, gradient?: Tree}} Derivative torch's by a parameter; ``gradient`` is that
 *   for x, where it is another once the parameter is a tensor
 *
 * @typedef {Common & {inside: string, tree: Tree, gradient: Tree|null, autograd: string, flat: boolean, family: string, judging?: string,
 *   follows: {[parameter: string]: Following}, torch: {[parameter: string]: Derivative}}} Op ``inside`` is the
 *   label as it stands inside a sentence, ``gradient`` is
 *   torch's own, null where it cannot be written out, ``autograd`` the same in a few words; a ``flat`` op is constant between its kinks;
 *   ``judging`` says how a net is judged whose op draws
 * @typedef {Common & {tree: Tree|null, usesY: boolean, group: string, suits: string[], otherwise: string,
 *   learned: {[parameter: string]: Learned}}} Rule
 * @typedef {Op|Rule} Entry
 */

/** @import { Tree } from "./evaluation.js" */

export {};
