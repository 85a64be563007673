// The parts of the drawn net from inputs to outputs. The middle layers may be one part.

/**
 * A part of the drawn net. "fold" is one part for a number of ``folded`` middle layers; ``layer`` counts from 0.
 * @typedef {{kind: "inputs"|"weights"|"op"|"fold"|"outputs", layer: number, folded: number}} Plate
 */

const MIN_FOLDED = 1;

/**
 * List the parts of the drawn net from inputs to outputs.
 * @param {number} layers number of layers with weights @param {boolean} open whether middle layers are shown one by one
 * @returns {Plate[]}
 */
export function listPlates(layers, open) {
  const last = layers - 1;
  const pair = (/** @type {number} */ layer) => [makePlate("weights", layer), makePlate("op", layer)];
  const middle = Array.from({ length: Math.max(last - 1, 0) }, (_, at) => at + 1);
  const folds = middle.length >= MIN_FOLDED && !open;
  return [
    makePlate("inputs", 0),
    ...pair(0),
    ...(folds ? [makePlate("fold", 1, middle.length)] : middle.flatMap(pair)),
    makePlate("weights", last),
    makePlate("outputs", last),
  ];
}

/**
 * Return whether a net has middle layers, which can be drawn as one part.
 * @param {number} layers number of layers with weights
 */
export function canFold(layers) {
  return layers - 2 >= MIN_FOLDED;
}

/** @param {Plate["kind"]} kind @param {number} layer @param {number} [folded] @returns {Plate} */
function makePlate(kind, layer, folded = 0) {
  return { kind, layer, folded };
}

/**
 * Return the fraction of the gradient that is left between neighbouring parts of the net; at the loss it is 1. Rules of
 * an op between layers multiply from the loss to the inputs; on weights, each layer has its own factor.
 * @param {Plate[]} plates @param {ArrayLike<number>} passed the rule's factor in each layer
 * @param {boolean} isBetweenLayers
 * @returns {(number|null)[]} for the gap after each part but the last; null at the inputs, and if no gradient is left
 */
export function computeRemaining(plates, passed, isBetweenLayers) {
  /** @type {(number|null)[]} */
  const left = [];
  let trunk = 1;
  for (let at = plates.length - 1; at > 0; at -= 1) {
    const { kind, layer, folded } = plates[at];
    const factor = kind === "fold" && !isBetweenLayers ? 1 : factorOf(kind, layer, folded, passed);
    const isLast = plates[at - 1].kind === "inputs";
    if (isBetweenLayers) trunk *= factor;
    const share = isBetweenLayers ? trunk : factor;
    left[at - 1] = !isLast && share > 0 ? share : null;
  }
  return left;
}

/**
 * Return the factor by which a part of the drawn net scales the gradient: 1 without the op, 0 for no finite factor.
 * @param {Plate["kind"]} kind @param {number} layer @param {number} folded @param {ArrayLike<number>} passed
 */
function factorOf(kind, layer, folded, passed) {
  const getFinite = (/** @type {number} */ at) => (Number.isFinite(passed[at]) ? passed[at] : 0);
  if (kind === "op") return getFinite(layer);
  if (kind !== "fold") return 1;
  const factors = Array.from({ length: folded }, (_, at) => getFinite(layer + at));
  return factors.reduce((all, each) => all * each, 1);
}
