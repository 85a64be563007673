// The drawing of the forward pass of one example: inputs, weights as images, the op with its values, and outputs.

import { updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { formatShare, formatShort } from "../../formula/numbers.js";
import { paintGrey } from "../widgets/canvas.js";
import { makeLinePath, share } from "../widgets/svg-paths.js";
import { paintImage } from "../widgets/image.js";
import { shortenNames } from "./names.js";
import { describeFold } from "./view-model.js";

/** @import { Forward } from "./view-model.js" */
/** @import { Plate } from "./plates.js" */

const MAX_NAMED = 12; // outputs of more classes are not labelled
const MAX_NAMED_CLASSES = 3; // for a table, whose class names are longer than digits
const [MAX_INPUT_NAMES, MAX_ROW_NAMES] = [22, 60]; // maximum letters in a list of a table's columns
const ROOF = 0.9; // fraction of the drawing's height for the values

/**
 * Create the drawing of the forward pass.
 * @param {HTMLElement} host @param {() => void} onFold called to show or hide the middle layers
 */
export function createNet(host, onFold) {
  let kinds = "";
  let parts = /** @type {{show: (forward: Forward, plate: Plate) => void}[]} */ ([]);

  /** @param {Forward} forward */
  function build({ plates }) {
    const views = plates.map((plate) => PAINTERS[plate.kind](plate, onFold));
    parts = views;
    const cells = views.flatMap(({ node }, at) => (at ? [element("i", { class: "onward" }), node] : [node]));
    host.replaceChildren(...cells);
  }

  return {
    /** @param {Forward|null} forward null shows an empty drawing */
    show(forward) {
      host.toggleAttribute("data-empty", !forward);
      if (!forward) return;
      const next = forward.plates.map(({ kind, layer, folded }) => `${kind}${layer}${folded}`).join();
      if (next !== kinds) build(forward);
      kinds = next;
      host.style.setProperty("--lead", forward.colour || "var(--line)");
      parts.forEach((part, at) => part.show(forward, forward.plates[at]));
    },
  };
}

/** @param {string} kind @param {Element} drawing @param {Element} caption */
function createPlate(kind, drawing, caption) {
  return element("figure", { class: `plate of-${kind}` }, drawing, element("figcaption", {}, caption));
}

/** @param {...string} classes classes of the paths */
function createDrawing(...classes) {
  const svg = shape("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none", "aria-hidden": "true" });
  const paths = classes.map((name) => shape("path", { class: name }));
  svg.append(...paths);
  return { svg, paths };
}

/** @type {{[kind in Plate["kind"]]: (plate: Plate, onFold: () => void) => {node: Element,
 *   show: (forward: Forward, plate: Plate) => void}}} */
const PAINTERS = {
  inputs() {
    const canvas = element("canvas", {});
    const { svg, paths } = createDrawing("axis-line", "bars");
    const caption = element("span", {});
    const node = createPlate("inputs", element("div", { class: "framed" }, canvas, svg), caption);
    return {
      node,
      show({ record, ink }) {
        const { inputs, of, side } = record;
        setAttribute(canvas, "hidden", !side);
        svg.toggleAttribute("hidden", side > 0);
        if (side) paintGrey(canvas, scaleToBytes(inputs), side, ink);
        else drawBars(paths, inputs);
        const all = side ? `${of} pixels` : `${of.toLocaleString("en-US")} inputs`;
        const named = shortenNames(record.labels.inputs, MAX_INPUT_NAMES);
        setText(caption, named || (inputs.length < of ? `first ${inputs.length} of ${all}` : all));
        setAttribute(node, "title", record.labels.inputs.join(", ") || null);
      },
    };
  },
  weights({ layer }) {
    const canvas = element("canvas", {});
    const owner = element("span", { class: "whose" });
    const caption = element("span", {}, `w${layer + 1}`, owner);
    const node = createPlate("weights", canvas, caption);
    return {
      node,
      show({ record, of, ink }) {
        paintImage(canvas, record.weights[layer], ink);
        setText(owner, layer === 0 && of ? ` of ${of}` : "");
        const rows = layer === 0 && shortenNames(record.labels.inputs, MAX_ROW_NAMES);
        const colours = of ? `The weights of ${of}: teal above 0, olive below` : "Blue above 0, orange below";
        setAttribute(node, "title", rows ? `${colours}; rows from the top: ${rows}` : colours);
      },
    };
  },
  op({ layer }) {
    const { svg, paths } = createDrawing("curve");
    const caption = element("span", {});
    const dots = shape("g", { class: "dots" });
    svg.append(dots);
    const node = createPlate("op", svg, caption);
    return {
      node,
      show({ record, curve, ends, op }) {
        const { x, y } = record.dots[layer];
        const toY = makeHeightScale([...curve.map((point) => point.y), ...y]);
        const toX = (/** @type {number} */ value) => share(value, ...ends);
        setAttribute(
          paths[0],
          "d",
          makeLinePath(curve.map((point) => ({ x: toX(point.x), y: toY(point.y) }))),
        );
        const points = Array.from(x, (value, at) => ({ x: toX(value), y: toY(y[at]) }));
        const visible = points.filter((dot) => dot.x >= 0 && dot.x <= 1);
        updateChildren(
          dots,
          visible,
          () => shape("ellipse", { rx: 22, ry: 22 }),
          (dot, at) => {
            dot.setAttribute("cx", String(Math.round(1000 * at.x)));
            dot.setAttribute("cy", String(Math.round(1000 * (1 - at.y))));
          },
        );
        setText(caption, op);
      },
    };
  },
  fold(_plate, onFold) {
    const button = element("button", { class: "fold text-small", "aria-expanded": "false", onclick: onFold });
    return {
      node: createPlate("folded", button, element("span", {})),
      show(_forward, { folded }) {
        setText(button, describeFold(folded));
        setAttribute(button, "aria-label", `${describeFold(folded)} in the middle: show each`);
      },
    };
  },
  outputs(_plate, onFold) {
    const bars = element("div", { class: "chances" });
    const caption = element("span", {});
    const fold = element(
      "button",
      { class: "fold text-small", "aria-expanded": "true", onclick: onFold },
      "Fold",
    );
    const node = element(
      "figure",
      { class: "plate of-outputs" },
      bars,
      element("figcaption", {}, caption, fold),
    );
    return {
      node,
      show({ record, canFold, open }) {
        const { target, labels } = record;
        if (target === null) drawValues(bars, record);
        else drawChances(bars, record);
        const [noun, several] = [labels.target || "class", labels.target || "outputs"];
        setText(caption, target === null ? several : `which ${noun}?`);
        setAttribute(fold, "hidden", !(canFold && open));
      },
    };
  },
};

/** Scale numbers linearly to bytes: 0 for the minimum, 255 for the maximum. @param {ArrayLike<number>} numbers */
function scaleToBytes(numbers) {
  const all = Array.from(numbers);
  const [low, high] = [Math.min(...all), Math.max(...all)];
  return Uint8Array.from(all, (each) => Math.round((255 * (each - low)) / (high - low || 1)));
}

/** @param {Element[]} paths @param {ArrayLike<number>} numbers */
function drawBars([line, bars], numbers) {
  const all = Array.from(numbers);
  const max = Math.max(...all.map(Math.abs)) || 1;
  const subpaths = all.map((value, at) => {
    const [left, right] = [(at + 0.15) / all.length, (at + 0.85) / all.length].map((x) =>
      Math.round(1000 * x),
    );
    const top = Math.round(500 - (480 * value) / max);
    return `M${left},500V${top}H${right}V500Z`;
  });
  setAttribute(bars, "d", subpaths.join(""));
  setAttribute(line, "d", "M0,500H1000");
}

/**
 * Return a function that maps values to fractions of a drawing's height, so that 0 and all given values fit.
 * @param {number[]} values
 */
function makeHeightScale(values) {
  const finite = values.filter(Number.isFinite);
  const [low, high] = [Math.min(...finite, 0), Math.max(...finite, 0)];
  const room = (1 - ROOF) / 2;
  return (/** @type {number} */ value) => room + ROOF * share(value, low, high === low ? low + 1 : high);
}

/**
 * Draw the predicted probability of each class as a bar, and highlight the right class.
 * @param {HTMLElement} host @param {*} record a measurement by the instrument "net"
 */
function drawChances(host, { outputs, target, labels: { names } }) {
  const all = Array.from(outputs);
  const isNamed = all.length <= (names.length ? MAX_NAMED_CLASSES : MAX_NAMED);
  const nameOf = (/** @type {number} */ at) => names[at] ?? String(at);
  updateChildren(host, all, createOutput, (bar, value, at) => {
    showBar(bar, 0, Math.min(Math.abs(value), 1), null);
    bar.classList.toggle("wanted", at === target);
    setText(bar.lastElementChild, isNamed ? nameOf(at) : "");
    setAttribute(bar, "title", names.length ? `${nameOf(at)}: ${formatShare(value)}` : null);
  });
  setAttribute(host, "title", `The chance of each class; right is ${nameOf(target)}`);
}

/**
 * Draw each output as a bar from 0, with a line at its target.
 * @param {HTMLElement} host @param {*} record a measurement by the instrument "net"
 */
function drawValues(host, { outputs, aim, labels: { target, unit } }) {
  const toTable = (/** @type {number} */ value) => unit[0] + unit[1] * value;
  const [all, aims] = [Array.from(outputs, toTable), Array.from(aim, toTable)];
  const bounds = [0, ...all, ...aims].filter(Number.isFinite);
  const [low, high] = [Math.min(...bounds), Math.max(...bounds)];
  const toY = (/** @type {number} */ value) =>
    Math.min(Math.max(share(value, low, high > low ? high : low + 1), 0), 1);
  updateChildren(host, all, createOutput, (bar, value, at) => {
    showBar(bar, Math.min(toY(0), toY(value)), Math.abs(toY(value) - toY(0)), toY(aims[at]));
    bar.classList.remove("wanted");
    setText(bar.lastElementChild, target ? `${formatShort(value)}, true ${formatShort(aims[at])}` : "");
  });
  setAttribute(host, "title", "The numbers of the net as bars; a line marks each target");
}

/**
 * Place the bar of an output and the line at its target. All numbers are fractions of the height.
 * @param {Element} node @param {number} bottom @param {number} height
 * @param {number|null} target the target, or null for no line
 */
function showBar(node, bottom, height, target) {
  const [bar, line] = /** @type {HTMLElement[]} */ ([...(node.firstElementChild?.children ?? [])]);
  bar.style.bottom = toPercent(bottom);
  bar.style.height = toPercent(height);
  line.hidden = target === null;
  line.style.bottom = toPercent(target ?? 0);
}

const toPercent = (/** @type {number} */ part) => `${(100 * part).toFixed(1)}%`;

function createOutput() {
  return element("span", {}, element("em", {}, element("i", {}), element("u", {})), element("b", {}));
}
