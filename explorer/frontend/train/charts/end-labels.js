// Labels at the right ends of curves, with name and last value.

import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { cut, spread, wrapNames } from "./label-layout.js";

/**
 * A label for the end of a curve, at ``x`` and ``y`` in the units of the axes.
 * @typedef {{x: number, y: number, colour: string, name: string, value: string, rule?: string}} Name
 */
/**
 * The labels of a chart. ``width``: the margin they need in px; ``texts``: their names, shortened to fit.
 * @typedef {{width: number, names: Name[], texts: string[], rows: number}} Names ``rows``: lines of text of a label
 */

const NARROW = 34; // the width below which a chart shortens its labels more, as a multiple of the font size
const [FEW_LETTERS, MANY_LETTERS] = [11, 26];
const DIGIT = 0.58; // width of a bold digit, as a multiple of the font size
const LEAD = 18; // px from the end of a curve to its label
const LINES = 1.15; // line height, as a multiple of the font size

/** Create the labels at the right ends of a chart's curves. @param {HTMLElement} host the chart's element */
export function createEndLabels(host) {
  const list = element("div", { class: "ends", "aria-hidden": "true" });
  const pen = /** @type {CanvasRenderingContext2D} */ (element("canvas", {}).getContext("2d"));
  let cached = { width: 0, size: 0 }; // width of the chart and font size at the last measurement, in px
  host.append(list);

  /**
   * Shorten the labels and measure the margin for them. Returns null without labels.
   * @param {number} width width of the chart in px @param {Name[]} names
   * @param {number} least the number of characters to reserve for each value @returns {Names|null}
   */
  function space(width, names, least) {
    if (!names.length) return null;
    if (width !== cached.width) cached = { width, size: readFontSize() };
    const all = names.map(({ name }) => name);
    const isNarrow = width < NARROW * cached.size;
    const wrapped = isNarrow ? wrapNames(all) : null;
    const texts = wrapped ?? cut(all, isNarrow ? FEW_LETTERS : MANY_LETTERS);
    const lines = texts.map((text) => (wrapped ? `\n${text}` : ` ${text}`).split("\n"));
    const widths = names.flatMap(({ value }, at) => {
      const [first, ...others] = lines[at].map((line) => pen.measureText(line).width);
      return [Math.max(value.length, least) * DIGIT * cached.size + first, ...others];
    });
    const rows = Math.max(...lines.map(({ length }) => length));
    return { width: Math.ceil(LEAD + Math.max(...widths)) + 2, names, texts, rows };
  }

  /** Return the font size of the labels in px, and set the canvas to their font. */
  function readFontSize() {
    const { fontSize, fontFamily } = getComputedStyle(list);
    pen.font = `${fontSize} ${fontFamily}`;
    return parseFloat(fontSize);
  }

  /** @param {*} chart the element into which Plotly has drawn @param {Names|null} names null hides them */
  function show(chart, names) {
    setAttribute(list, "hidden", !names);
    if (!names) return;
    const { xaxis, yaxis, _size: size } = chart._fullLayout;
    const at = names.names.map(({ x, y }) => ({
      x: size.l + xaxis.d2p(x),
      y: size.t + clamp(yaxis.d2p(y), size.h),
    }));
    const height = LINES * cached.size * names.rows;
    const beyond = (height - LINES * cached.size) / 2; // so that lines above and below the middle are not cut
    const tops = spread(
      at.map(({ y }) => y),
      height,
      size.t + beyond,
      size.t + size.h - beyond,
    );
    const right = size.l + size.w;
    const labels = names.names.map((name, index) =>
      drawLabel(name, names.texts[index], names.rows > 1, right + LEAD, tops[index]),
    );
    const leads = names.names.map((name, index) => drawLead(name, at[index], right, tops[index]));
    render(list, h("svg", { class: "leads" }, leads), h("div", {}, labels));
  }

  return { space, show };
}

/**
 * @param {Name} name @param {string} text the name, as it fits @param {boolean} isStacked whether it is below the value
 * @param {number} left px @param {number} top px
 */
function drawLabel({ name, value, rule }, text, isStacked, left, top) {
  const style = `translate: ${left}px calc(${top}px - 50%)`;
  const title = text.includes("…") ? name : null;
  return h(
    "span",
    { "data-rule": rule, title, style },
    h("b", {}, value),
    isStacked ? "\n" : " ",
    h("i", {}, text),
  );
}

/**
 * @param {Name} name @param {{x: number, y: number}} from the end of the curve in px
 * @param {number} right right end of the chart in px @param {number} top position of the label in px
 */
function drawLead({ colour, rule }, { x, y }, right, top) {
  const far = x < right - 8;
  return h("path", {
    d: `M${x + 4} ${y}H${right + 3}L${right + LEAD - 5} ${top}`,
    stroke: colour,
    "data-rule": rule,
    "stroke-dasharray": far ? "1 4" : "none",
  });
}

/** @param {number} px @param {number} most */
function clamp(px, most) {
  return Number.isFinite(px) ? Math.min(Math.max(px, 0), most) : most;
}
