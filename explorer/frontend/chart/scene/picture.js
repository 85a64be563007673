// The types of a chart's picture.

/**
 * The picture of a chart. ``entry`` of an op or rule is as in the catalogue's document; ``slot`` the index of its
 * colour, ``neutral`` the colour of the op; ``parameters`` the values that differ from their default, by
 * control name; ``words`` the text for those who cannot see the chart.
 * @typedef {{curves: import("./traces.js").Curves, op: import("../../formula/entry.js").Op, rules: Listed[],
 *   neutral: string, parameters: Object<string, number>, g: number, range: [number, number],
 *   leastRange?: [number, number], learns?: string, layer?: string, words: string, confirmed: boolean}} Picture ``leastRange`` is
 *   always on the gradients' axis, 0 by default; ``learns`` the parameter whose parts have a panel, "" for none; ``layer`` the key of the one over the op
 * @typedef {{key: string, label: string, colour: string, slot: number, hidden: boolean,
 *   entry: import("../../formula/entry.js").Rule}} Listed a rule
 */
/**
 * A layer: its curves at the x of the picture, each in the colour of its rule; ``words`` says what they are, by the
 * sentences of its entry.
 * @typedef {{curves: (picture: Picture) => {rule: Listed, y: Float64Array}[],
 *   words: (picture: Picture, words: Record<string, string>) => string}} Layer
 */

export {};
