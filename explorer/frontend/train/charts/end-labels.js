// Names beside the ends of a chart's curves, drawn over it.

import { updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { cut, spread } from "./label-layout.js";

/**
 * A name at the end of a curve: ``x`` and ``y`` in the chart's numbers.
 * @typedef {{x: number, y: number, colour: string, name: string, value: string, rule?: string}} Name
 */
/**
 * Names that stand in ``width`` px beside the chart, with the ``texts`` that there is room for.
 * @typedef {{width: number, names: Name[], texts: string[]}} Names
 */

/** Px of a chart, below which names have space for fewer letters. */
export const NARROW = 440;
const [FEW_LETTERS, MANY_LETTERS] = [11, 26];
const DIGIT = 0.58; // of the font's height, as values are bold
const LEAD = 18; // px of the line that leads from a curve to its name
const LINES = 1.15; // heights of letters from one name to the next

/** @param {HTMLElement} host of a chart */
export function createEnds(host) {
  const lines = shape("svg", { class: "leads" });
  const labels = element("div", {});
  const list = element("div", { class: "ends", "aria-hidden": "true" }, lines, labels);
  const pen = /** @type {CanvasRenderingContext2D} */ (element("canvas", {}).getContext("2d"));
  let known = { width: 0, size: 0 }; // px of the chart, and of the font in it
  host.append(list);

  /**
   * Names, with the space they take.
   * @param {number} width px of the chart
   * @param {Name[]} names
   * @param {number} least letters of a value
   * @returns {Names|null}
   */
  function space(width, names, least) {
    if (!names.length) return null;
    if (width !== known.width) known = { width, size: written() };
    const texts = cut(
      names.map(({ name }) => name),
      width < NARROW ? FEW_LETTERS : MANY_LETTERS,
    );
    const widths = names.map(
      ({ value }, at) =>
        Math.max(value.length, least) * DIGIT * known.size + pen.measureText(` ${texts[at]}`).width,
    );
    return { width: Math.ceil(LEAD + Math.max(...widths)) + 2, names, texts };
  }

  /** Px of the font, with which the pen measures from now on. */
  function written() {
    const { fontSize, fontFamily } = getComputedStyle(list);
    pen.font = `${fontSize} ${fontFamily}`;
    return parseFloat(fontSize);
  }

  /** @param {*} chart as Plotly has drawn it @param {Names|null} names */
  function show(chart, names) {
    setAttribute(list, "hidden", !names);
    if (!names) return;
    const { xaxis, yaxis, _size: size } = chart._fullLayout;
    const at = names.names.map(({ x, y }) => ({
      x: size.l + xaxis.d2p(x),
      y: size.t + within(yaxis.d2p(y), size.h),
    }));
    const height = LINES * known.size;
    const tops = spread(
      at.map(({ y }) => y),
      height,
      size.t,
      size.t + size.h,
    );
    const right = size.l + size.w;
    updateChildren(labels, names.names, createLabel, (label, name, index) =>
      place(label, name, names.texts[index], right + LEAD, tops[index]),
    );
    lines.replaceChildren(...names.names.map((name, index) => lead(name, at[index], right, tops[index])));
  }

  return { space, show };
}

function createLabel() {
  return element("span", {}, element("b", {}), " ", element("i", {}));
}

/**
 * @param {HTMLElement} label
 * @param {Name} name
 * @param {string} text as much of its name as there is room for
 * @param {number} left
 * @param {number} top
 */
function place(label, { name, value, rule }, text, left, top) {
  setAttribute(label, "data-rule", rule);
  setAttribute(label, "title", text === name ? null : name);
  setText(/** @type {Element} */ (label.firstChild), value);
  setText(/** @type {Element} */ (label.lastChild), text);
  label.style.translate = `${left}px calc(${top}px - 50%)`;
}

/**
 * The line from a curve's end to its name.
 * @param {Name} name
 * @param {{x: number, y: number}} from
 * @param {number} right
 * @param {number} top
 */
function lead({ colour, rule }, { x, y }, right, top) {
  const far = x < right - 8;
  return shape("path", {
    d: `M${x + 4} ${y}H${right + 3}L${right + LEAD - 5} ${top}`,
    stroke: colour,
    ...(rule && { "data-rule": rule }),
    "stroke-dasharray": far ? "1 4" : "none",
  });
}

/** @param {number} px @param {number} most */
function within(px, most) {
  return Number.isFinite(px) ? Math.min(Math.max(px, 0), most) : most;
}
