/**
 * A backward rule's gradient as a colour map over x and the upstream gradient g, with values from Python.
 * @typedef {{columns: number, rows: number, values: ArrayLike<number>}} RuleMap gradient in each cell, row by row from
 *   the highest g
 * @typedef {{step: number, count: number}} Bands size and number of the colour bands for positive values; negative ones
 *   have as many
 */

const MAX_BANDS = 8;
const MAX_RATIO = 5; // multiple of the largest g; the last colour covers everything beyond
const STEPS = [1, 2, 2.5, 5, 10];

/**
 * Return a backward rule's gradient on a grid of x and g. Python sends the whole grid, or only the row at g = 1
 * (``unit``) if the rule is linear in g.
 * @param {{columns: number, rows: number, unit?: ArrayLike<number>, values?: ArrayLike<number>}} answer Python's answer
 * @param {number} top the grid's g goes from −top to top @returns {RuleMap}
 */
export function makeGradientMap({ columns, rows, unit, values }, top) {
  if (!unit) return { columns, rows, values: values ?? [] };
  const all = Float32Array.from({ length: columns * rows }, (_, at) => {
    const g = top * (1 - (2 * Math.floor(at / columns)) / (rows - 1));
    return g * unit[at % columns];
  });
  return { columns, rows, values: all };
}

/**
 * Return the cell of a rule's map at a position.
 * @param {RuleMap} map @param {number} across distance from the left, as a fraction
 * @param {number} down distance from the top, as a fraction
 */
export function findCell({ columns, rows, values }, across, down) {
  const [column, row] = [Math.round(across * (columns - 1)), Math.round(down * (rows - 1))];
  return { across: column / (columns - 1), down: row / (rows - 1), value: values[row * columns + column] };
}

/** Return the colour bands that all rule maps share. @param {RuleMap[]} maps @param {number} top the largest g */
export function computeColourBands(maps, top) {
  let largest = 0;
  for (const { values } of maps)
    for (let at = 0; at < values.length; at += 1)
      if (Math.abs(values[at]) <= MAX_RATIO * top) largest = Math.max(largest, Math.abs(values[at]));
  const least = (largest || top) / MAX_BANDS;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = power * /** @type {number} */ (STEPS.find((factor) => factor * power >= least * (1 - 1e-9)));
  return { step, count: Math.max(1, Math.ceil((largest || top) / step - 1e-9)) };
}

/**
 * Return the colour band of a value: 0 for zero, 1 and up for positive values, −1 and down for negative ones.
 * @param {number} value @param {Bands} bands
 */
export function getColourBand(value, { step, count }) {
  if (value === 0) return 0;
  return Math.sign(value) * Math.min(count, Math.max(1, Math.ceil(Math.abs(value) / step - 1e-9)));
}
