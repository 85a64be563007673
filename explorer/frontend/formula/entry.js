/**
 * Ops (forward functions) and backward rules, as explorer/instrument/document.py writes them, and as the user types
 * them.
 * @typedef {object} Parameter a number in the formulas of an op or rule
 * @property {string} name its name in the formulas @property {number} default
 * @property {number} low lower end of its slider @property {number} high upper end of its slider
 * @property {string} meaning a noun phrase, perhaps with a colon and a hint
 * @property {string|null} below name of the parameter that it must not exceed, such as hi for lo, or null
 * @property {[number, number]} reach widest ends of its slider
 * @property {string} scale scale of its slider, "linear" or "log"
 * @property {string} domain the condition under which the formulas are defined, such as ``0 < alpha < 1``, or "" for
 *   none
 * @property {string} quantity the quantity that the name denotes, "" in the user's formulas: see ``areDistinct``
 * @property {string} plain its original name if ``adaptRule`` renamed it; otherwise ""
 * @typedef {{offset: Tree, spacing: Tree, low: Tree|null, high: Tree|null}} Lattice kinks at offset + k · spacing,
 *   between low and high; null for no limit
 * @typedef {{tree: Tree, turns: Tree[]}} Piece an expression that is constant between kinks, and expressions that
 *   change sign at its argument's extrema
 * @typedef {object} Common properties of ops and rules
 * @property {string} key its name in links and code @property {string} label its name on the page
 * @property {string[]} also alternative names, found by the search @property {string} purpose a sentence about its use
 * @property {string} source the paper or file with its formula, or ""
 * @property {string} note a remark or warning, or ""
 * @property {string|null} formula the definition as text; null for torch's own gradient
 * @property {Parameter[]} parameters
 * @property {(Tree|Lattice)[]|null} kinks declared positions of kinks; null if they must be searched
 * @property {Piece[]} [pieces] expressions that change value where a kink may be; absent if ``kinks`` are declared
 * @property {{x: Tree, y: Tree}} [slopes] the formula's derivatives by x and by y; absent if ``kinks`` are declared
 * @property {string} [untrained] why no net can be trained with it; absent if one can
 * @property {string} [unspiking] why no spiking net can be trained with it; absent if one can
 * @property {{name: string, sign: number}[]} movable the parameters whose value times ``sign`` is a kink
 * @typedef {{tree: Tree, text: string, scale: Tree|null, scaleText: string|null, atBound: string, note: string,
 *   pieces?: Piece[], slopes?: {x: Tree, y: Tree}}} Learned the declared formula of one element's contribution to a
 *   parameter's gradient; ``scale`` is a factor of the sum over elements, in the parameters and the number of elements
 *   N; ``pieces`` and ``slopes`` as in ``Common``
 * @typedef {{outer: Tree, ratio: Tree}} Following one element's contribution to a parameter's gradient, as outer + rule
 *   · ratio
 * @typedef {{tree: Tree, text: string, gradient?: Tree}} Derivative torch's derivative of the op by a parameter;
 *   ``gradient`` is the gradient for x if it differs when the parameter is a tensor
 * @typedef {Common & {inside: string, tree: Tree, gradient: Tree|null, autograd: string, flat: boolean, family: string,
 *   judging?: string, follows: {[parameter: string]: Following}, torch: {[parameter: string]: Derivative}}} Op
 *   ``inside`` is the label within a sentence, ``gradient`` is autograd's, null if it has no formula, ``autograd``
 *   describes it in a few words; a ``flat`` op is constant between its kinks; ``judging`` explains how to evaluate a
 *   net with a stochastic op
 * @typedef {Common & {tree: Tree|null, brief: string, usesY: boolean, group: string, suits: string[], otherwise:
 *   string, learned: {[parameter: string]: Learned}, codeNotes?: readonly string[]}} Rule ``brief`` is the definition in
 *   about six words; ``codeNotes``: remarks on the code that it was pasted as, absent after a reload
 * @typedef {Op|Rule} Entry an entry of the catalogue
 */

/** @import { Tree } from "./evaluation.js" */

export {};
