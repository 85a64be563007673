// The types of a chart's picture.

/**
 * The picture of a chart. ``entry`` of an op or rule is as in the catalogue's document; ``slot`` the index of its
 * colour, ``neutral`` the colour of the op; ``parameters`` the values that differ from their default, by
 * control name; ``words`` the text for those who cannot see the chart.
 * @typedef {{curves: import("./traces.js").Curves, op: import("../../formula/entry.js").Op, rules: Listed[],
 *   neutral: string, parameters: Object<string, number>, g: number, range: [number, number],
 *   leastRange?: [number, number], learns?: string, layer?: string, layerAnswer?: LayerAnswer|null,
 *   over?: LayerCurve[], words: string, confirmed: boolean,
 *   loss?: import("../../formula/draws.js").Loss, drawnWords?: Record<string, string>}} Picture ``leastRange`` is
 *   always on the gradients' axis, 0 by default; ``learns`` the parameter whose parts have a panel, "" for none; ``layer`` the key of the one that is on,
 *   ``layerAnswer`` what Python says of it; ``over`` are further curves, drawn as a layer's; ``loss`` that
 *   of what draws, ``drawnWords`` the sentences on it
 * @typedef {{key: string, label: string, colour: string, slot: number, hidden: boolean,
 *   entry: import("../../formula/entry.js").Rule}} Listed a rule
 */
/**
 * A curve of a layer: of a rule, or of the op with "" as its key; "" as colour is that of letters. ``gaps`` as of a line.
 * @typedef {{of: {key: string, label: string, colour: string}, panel: "forward"|"gradient", x: import("./jumps.js").Floats,
 *   y: import("./jumps.js").Floats, gaps?: Uint8Array}} LayerCurve
 */
/**
 * Python's answer about a layer. ``rule`` is the key of the rule that a curve is of, "" for the op.
 * @typedef {{curves: {rule: string, panel: "forward"|"gradient", x: import("./jumps.js").Floats,
 *   y: import("./jumps.js").Floats}[], words: string}} LayerAnswer
 */
/** Further curves for a picture. @typedef {(picture: Picture) => LayerCurve[]} Over */

export {};
