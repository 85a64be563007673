// The plates of a net from its inputs to its outputs: layers of weights, the op between them, middle layers as one.

/**
 * A plate of the drawing: the inputs, the weights of a ``layer``, the op of a ``layer``, the ``folded`` layers of weights
 * between the first op and the last weights, or the outputs. Layers are counted from 0.
 * @typedef {{kind: "inputs"|"weights"|"op"|"fold"|"outputs", layer: number, folded: number}} Plate
 */

const FEWEST_FOLDED = 1;

/**
 * @param {number} layers of weights
 * @param {boolean} open whether the middle ones stand one by one
 * @returns {Plate[]}
 */
export function platesOf(layers, open) {
  const last = layers - 1;
  const pair = (/** @type {number} */ layer) => [plate("weights", layer), plate("op", layer)];
  const middle = Array.from({ length: Math.max(last - 1, 0) }, (_, at) => at + 1);
  const folds = middle.length >= FEWEST_FOLDED && !open;
  return [
    plate("inputs", 0),
    ...pair(0),
    ...(folds ? [plate("fold", 1, middle.length)] : middle.flatMap(pair)),
    plate("weights", last),
    plate("outputs", last),
  ];
}

/** Whether there are layers that can be folded. @param {number} layers of weights */
export function canFold(layers) {
  return layers - 2 >= FEWEST_FOLDED;
}

/** @param {Plate["kind"]} kind @param {number} layer @param {number} [folded] @returns {Plate} */
function plate(kind, layer, folded = 0) {
  return { kind, layer, folded };
}

/**
 * What is left of the gradient between neighbouring plates, on its way back: a share of what leaves the loss, by the
 * rules alone, and null where none passes. At the hidden units the rules' factors multiply; on the weights each layer has
 * the op on a way of its own.
 * @param {Plate[]} plates
 * @param {ArrayLike<number>} passed by layer with the op
 * @param {boolean} isAlongTheWay whether the op stands between layers
 * @returns {(number|null)[]} by the gap behind each plate but the last
 */
export function leftOf(plates, passed, isAlongTheWay) {
  /** @type {(number|null)[]} */
  const left = [];
  let trunk = 1;
  for (let at = plates.length - 1; at > 0; at -= 1) {
    const { kind, layer, folded } = plates[at];
    const through = kind === "fold" && !isAlongTheWay ? 1 : factorOf(kind, layer, folded, passed);
    const isLast = plates[at - 1].kind === "inputs";
    if (isAlongTheWay) trunk *= through;
    const here = isAlongTheWay ? trunk : through;
    left[at - 1] = !isLast && here > 0 ? here : null;
  }
  return left;
}

/** @param {Plate["kind"]} kind @param {number} layer @param {number} folded @param {ArrayLike<number>} passed */
function factorOf(kind, layer, folded, passed) {
  const finite = (/** @type {number} */ at) => (Number.isFinite(passed[at]) ? passed[at] : 0);
  if (kind === "op") return finite(layer);
  if (kind !== "fold") return 1;
  return Array.from({ length: folded }, (_, at) => finite(layer + at)).reduce((all, each) => all * each, 1);
}
