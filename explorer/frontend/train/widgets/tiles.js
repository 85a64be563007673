// Square images beside and below one another, as the pixels of one image.

/**
 * A grid of images: its pixels row by row, each the index of what it displays, image by image, and −1 in a gap.
 * @typedef {{width: number, height: number, indices: Int32Array}} Grid
 */

/**
 * @param {number} tiles
 * @param {number} side of each
 * @param {{across?: number, zoom?: number}} [more] tiles in a row, about as many as rows if none are given; pixels
 *   on a side of each number, where a gap is one pixel
 * @returns {Grid}
 */
export function gridOf(tiles, side, { across = Math.ceil(Math.sqrt(tiles)), zoom = 1 } = {}) {
  const step = side * zoom + 1;
  const [width, height] = [across, Math.ceil(tiles / across)].map((count) => count * step - 1);
  const indices = Int32Array.from({ length: width * height }, (_, pixel) => {
    const [x, y] = [pixel % width, Math.floor(pixel / width)];
    const [column, row] = [x, y].map((at) => Math.floor(at / step));
    const [inX, inY] = [x - column * step, y - row * step].map((at) => Math.floor(at / zoom));
    const tile = row * across + column;
    return inX === side || inY === side || tile >= tiles ? -1 : (tile * side + inY) * side + inX;
  });
  return { width, height, indices };
}
