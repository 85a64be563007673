// The types of a chart's picture.

/**
 * The picture of a chart. ``entry`` of an op or rule is as in the catalogue's document; ``slot`` the index of its
 * colour, ``neutral`` the colour of the op; ``parameters`` the values that differ from their default, by
 * control name; ``words`` the text for those who cannot see the chart.
 * @typedef {{curves: import("./traces.js").Curves, op: import("../../formula/entry.js").Op, rules: Listed[],
 *   neutral: string, parameters: Object<string, number>, g: number, range: [number, number],
 *   leastRange?: [number, number], learns?: string, layer?: string, lens?: Lens|null,
 *   over?: LayerCurve[], words: string, confirmed: boolean,
 *   loss?: import("../../formula/draws.js").Loss, drawnWords?: Record<string, string>}} Picture ``leastRange`` is
 *   always on the gradients' axis, 0 by default; ``learns`` the parameter whose parts have a panel, "" for none; ``layer`` the key of the one that is on,
 *   ``lens`` the op under noise; ``over`` are further curves, drawn as a layer's; ``loss`` that
 *   of what draws, ``drawnWords`` the sentences on it
 * @typedef {{key: string, label: string, colour: string, slot: number, hidden: boolean,
 *   entry: import("../../formula/entry.js").Rule}} Listed a rule
 */
/**
 * A curve of a layer: of a rule, or of the op with "" as its key; "" as colour is that of letters. ``gaps`` as of a line.
 * @typedef {{of: {key: string, label: string, colour: string}, panel: "forward"|"gradient", x: import("./jumps.js").Floats,
 *   y: Float64Array, gaps?: Uint8Array}} LayerCurve
 */
/**
 * A layer: its curves, dashed; ``words`` says what they are, by the sentences of its entry.
 * @typedef {{curves: (picture: Picture) => LayerCurve[],
 *   words: (picture: Picture, words: Record<string, string>) => string}} Layer
 */
/** An op under noise: the gradient of its mean with words on it, or why there is none. @typedef {{curve?: {x: Float64Array, y: Float64Array}, words: string}} Lens */
/** Further curves for a picture. @typedef {(picture: Picture) => LayerCurve[]} Over */

export {};
