// The parts of the drawn net, from inputs to outputs. Middle layers can be folded into one.

/**
 * A part of the drawn net: the inputs, the weights or the op of a ``layer``, counted from 0, a number of ``folded``
 * layers between the first op and the last weights, or the outputs.
 * @typedef {{kind: "inputs"|"weights"|"op"|"fold"|"outputs", layer: number, folded: number}} Plate
 */

const MIN_FOLDED = 1;

/**
 * List the parts of the drawn net from inputs to outputs. Middle layers are one part unless ``open`` is true.
 * @param {number} layers number of layers of weights
 * @param {boolean} open whether the middle layers are shown one by one
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

/** Return whether a net has middle layers, which can be folded. @param {number} layers number of layers of weights */
export function canFold(layers) {
  return layers - 2 >= MIN_FOLDED;
}

/** @param {Plate["kind"]} kind @param {number} layer @param {number} [folded] @returns {Plate} */
function makePlate(kind, layer, folded = 0) {
  return { kind, layer, folded };
}

/**
 * Return the fraction of the gradient that the backward rules leave between neighbouring parts of the net.
 *
 * The gradient at the loss is 1. If the op is at hidden units, the rules' factors multiply along the net. If it is on
 * weights, each layer has a separate factor.
 * @param {Plate[]} plates
 * @param {ArrayLike<number>} passed factors of the rules, by layer with the op
 * @param {boolean} isBetweenLayers whether the op is between layers
 * @returns {(number|null)[]} by the gap after each plate except the last; null at the inputs and if no gradient remains
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

/** @param {Plate["kind"]} kind @param {number} layer @param {number} folded @param {ArrayLike<number>} passed */
function factorOf(kind, layer, folded, passed) {
  const getFinite = (/** @type {number} */ at) => (Number.isFinite(passed[at]) ? passed[at] : 0);
  if (kind === "op") return getFinite(layer);
  if (kind !== "fold") return 1;
  return Array.from({ length: folded }, (_, at) => getFinite(layer + at)).reduce(
    (all, each) => all * each,
    1,
  );
}
