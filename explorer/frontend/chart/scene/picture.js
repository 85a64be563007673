// Types of the data that a chart shows.

/**
 * The content of a chart. ``entry`` of an op or rule is as in the catalogue's document; ``slot`` is the index of its
 * colour, ``neutral`` the colour of the op; ``parameters`` are the values other than the default, by control name;
 * ``words`` is the text for screen readers.
 * @typedef {{curves: import("./traces.js").Curves, op: import("../../formula/entry.js").Op, rules: ListedRule[],
 *   neutral: string, parameters: Object<string, number>, g: number, range: [number, number],
 *   leastRange?: [number, number], learns?: string, layer?: string, layerAnswer?: LayerAnswer|null,
 *   over?: LayerCurve[], words: string, confirmed: boolean,
 *   loss?: import("../../formula/draws.js").Loss, drawnWords?: Record<string, string>}} Picture ``leastRange`` is
 *   always within the gradients' axis, 0 by default; ``learns`` is the parameter whose parts have a panel, or "";
 *   ``layer`` the key of the active layer, ``layerAnswer`` Python's answer about it; ``over`` are further curves, drawn
 *   like a layer's; ``loss`` and the sentence templates ``drawnWords`` are for stochastic ops and rules
 * @typedef {{key: string, label: string, colour: string, slot: number, hidden: boolean,
 *   entry: import("../../formula/entry.js").Rule}} ListedRule a rule
 */
/**
 * A curve of a layer for a rule, or for the op with key "". The colour "" is the text colour. ``gaps`` as of a line.
 * @typedef {{of: {key: string, label: string, colour: string}, panel: "forward"|"gradient", x: import("./jumps.js").Floats,
 *   y: import("./jumps.js").Floats, gaps?: Uint8Array}} LayerCurve
 */
/**
 * Python's answer about a layer. ``rule`` is the key of a curve's rule, "" for the op.
 * @typedef {{curves: {rule: string, panel: "forward"|"gradient", x: import("./jumps.js").Floats,
 *   y: import("./jumps.js").Floats}[], words: string}} LayerAnswer
 */
/** A function that returns the additional curves of a chart. @typedef {(picture: Picture) => LayerCurve[]} GetCurves */

export {};
