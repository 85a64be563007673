/**
 * A backward rule's gradient over x and g, as Python computes it, and the colour bands of its values.
 * @typedef {{columns: number, rows: number, values: ArrayLike<number>}} RuleMap ``values`` by rows, the highest g first
 * @typedef {{step: number, count: number}} Bands the size and number of bands above 0; as many are below
 */

const MAX_BANDS = 8;
const MAX_RATIO = 5; // values beyond this multiple of the largest g have the last colour
const STEPS = [1, 2, 2.5, 5, 10];

/**
 * Return a backward rule's gradient on a grid of x and g. The server sends the whole grid, or only its values at g = 1
 * (``unit``) if the rule is linear in g.
 * @param {{columns: number, rows: number, unit?: ArrayLike<number>, values?: ArrayLike<number>}} answer
 * @param {number} top g goes from −top to top
 * @returns {RuleMap}
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
 * Find the cell of a grid at a position that is given in fractions of the grid's width and height.
 * @param {RuleMap} map
 * @param {number} across
 * @param {number} down
 */
export function findCell({ columns, rows, values }, across, down) {
  const [column, row] = [Math.round(across * (columns - 1)), Math.round(down * (rows - 1))];
  return { across: column / (columns - 1), down: row / (rows - 1), value: values[row * columns + column] };
}

/** Compute the colour bands that all rule maps share. @param {RuleMap[]} maps @param {number} top */
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
 * @param {number} value
 * @param {Bands} bands
 */
export function getColourBand(value, { step, count }) {
  if (value === 0) return 0;
  return Math.sign(value) * Math.min(count, Math.max(1, Math.ceil(Math.abs(value) / step - 1e-9)));
}
