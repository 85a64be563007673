// A grid of square images in one large image.

/**
 * A grid. ``indices``: the index of each pixel's number among all images, row by row, or −1 in a gap.
 * @typedef {{width: number, height: number, indices: Int32Array}} Grid
 */

/**
 * Return the size and pixels of a grid of square images, with gaps of one pixel.
 * @param {number} tiles number of images @param {number} side numbers along a side of an image
 * @param {{across?: number, zoom?: number}} [more] ``across``: images in a row, by default about as many as rows;
 *   ``zoom``: pixels along a side of a number
 * @returns {Grid}
 */
export function arrangeGrid(tiles, side, { across = Math.ceil(Math.sqrt(tiles)), zoom = 1 } = {}) {
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
