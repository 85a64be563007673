// Types of the data that a chart displays.

/**
 * The contents of a chart: sampled curves, with the settings from which they follow. ``parameters``: values other than
 * the default, by control name; ``words``: a description for screen readers; ``confirmed``: whether torch computed the
 * curves; ``leastRange``: always within the gradients' y axis, 0 by default; ``learns``: the parameter whose gradient
 * has a panel, or ""; ``layer``: key of the further curves that are switched on, with Python's ``layerAnswer``;
 * ``over``: curves drawn in the same way; ``loss``, ``drawnWords``: the loss and sentence templates for stochastic ops
 * and rules.
 * @typedef {{curves: import("./traces.js").Curves, op: import("../../formula/entry.js").Op, rules: ListedRule[],
 *   neutral: string, parameters: Object<string, number>, g: number, range: [number, number], leastRange?: [number,
 *   number], learns?: string, layer?: string, layerAnswer?: LayerAnswer|null, over?: LayerCurve[], sketches?: Sketch[], words:
 *   string, confirmed: boolean, loss?: import("../../formula/draws.js").Loss, drawnWords?: Record<string, string>}} Picture
 * @typedef {{key: string, label: string, colour: string, slot: number, hidden: boolean, entry:
 *   import("../../formula/entry.js").Rule}} ListedRule a rule on the chart; ``slot``: index of its colour
 */
/**
 * A further curve over the chart. It belongs to a rule, or to the op with key "". The colour "" means the text colour.
 * ``gaps``: see ``Line``.
 * @typedef {{of: {key: string, label: string, colour: string}, panel: "forward"|"gradient", x:
 *   import("./jumps.js").Floats, y: import("./jumps.js").Floats, gaps?: Uint8Array}} LayerCurve
 */
/**
 * Python's answer about the further curves of a chart. ``rule``: key of the rule to which a curve belongs, "" for the
 * op.
 * @typedef {{curves: {rule: string, panel: "forward"|"gradient", x: import("./jumps.js").Floats, y:
 *   import("./jumps.js").Floats}[], words: string}} LayerAnswer
 */
/** A curve drawn by hand over the gradients. @typedef {Pick<LayerCurve, "x"|"y">} Sketch */
/** A function that returns the further curves of a chart. @typedef {(picture: Picture) => LayerCurve[]} GetCurves */

export {};
