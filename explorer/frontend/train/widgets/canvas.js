// Bytes as pixels of a canvas that the page scales.

const [BAR, GAP, STEPS] = [3, 1, 48]; // pixels: of a bar, beside it, and from the least to the largest
const SOFT = 190; // the opacity of a bar

/**
 * The colour of the letters in a node, as one pixel without its opacity; to read it has the page lay itself out,
 * so it is read once for each theme.
 * @param {Element} node
 */
export function inkOf(node) {
  const [red, green, blue] = (getComputedStyle(node).color.match(/\d+/g) ?? []).map(Number);
  return pixel(red, green, blue, 0);
}

/**
 * A pixel as a canvas keeps it, from the lowest byte.
 * @param {number} red
 * @param {number} green
 * @param {number} blue
 * @param {number} opacity
 */
export function pixel(red, green, blue, opacity) {
  return (red | (green << 8) | (blue << 16) | (opacity << 24)) >>> 0;
}

/**
 * Paint bytes row by row: 0 is clear, 255 the ink.
 * @param {HTMLCanvasElement} canvas
 * @param {ArrayLike<number>} bytes
 * @param {number} width pixels of a row
 * @param {number} ink
 */
export function paintGrey(canvas, bytes, width, ink) {
  paint(canvas, width, bytes.length / width, (at) => (ink | (bytes[at] << 24)) >>> 0);
}

/**
 * Paint bytes as bars beside each other, which rise and fall from one of them.
 * @param {HTMLCanvasElement} canvas
 * @param {ArrayLike<number>} bytes
 * @param {number} zero the byte that is no bar
 * @param {number} ink
 */
export function paintBars(canvas, bytes, zero, ink) {
  const each = BAR + GAP;
  const wide = bytes.length * each - GAP;
  const level = (/** @type {number} */ byte) => Math.round((1 - byte / 255) * (STEPS - 1));
  const ends = Array.from(bytes, (byte) => [level(zero), level(byte)].sort((one, other) => one - other));
  paint(canvas, wide, STEPS, (at) => {
    const [x, y] = [at % wide, Math.floor(at / wide)];
    const [from, to] = ends[Math.floor(x / each)];
    const isBar = x % each < BAR && y >= from && y <= to;
    return isBar ? (ink | (SOFT << 24)) >>> 0 : 0;
  });
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {number} width
 * @param {number} height
 * @param {(at: number) => number} colour of a pixel, row by row from the top
 */
export function paint(canvas, width, height, colour) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  const image = context.createImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let at = 0; at < pixels.length; at += 1) pixels[at] = colour(at);
  context.putImageData(image, 0, 0);
}

/**
 * Whether two rows of numbers are the same.
 * @param {ArrayLike<number>} one
 * @param {ArrayLike<number>} other
 */
export function same(one, other) {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}
