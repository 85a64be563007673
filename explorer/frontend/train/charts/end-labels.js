// Labels at the right ends of curves, with name and last value.

import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { clampTo } from "../../formula/numbers.js";
import { spread, wrapName } from "./label-layout.js";

/**
 * A label for the end of a curve, at ``x`` and ``y`` in the units of the axes. ``faint``: whether the curve is of an
 * earlier run or of random guessing.
 * @typedef {{x: number, y: number, colour: string, name: string, value: string, rule?: string, faint?: boolean}} Name
 */
/**
 * The labels of a chart. ``width``: the margin they need in px; ``texts``: what follows their values, as it fits: a
 * blank or a line break, and the name.
 * @typedef {{width: number, names: Name[], texts: string[]}} Names
 */

const MAX_SHARE = 0.42; // maximum width of labels with names in one line, as a fraction of the chart's width
const LINE_LETTERS = /** @type {const} */ ([9, 17]); // minimum and maximum length of a line of a name
const LETTER = 0.5; // average width of a letter, as a multiple of the font size
const DIGIT = 0.58; // width of a bold digit, as a multiple of the font size
const LINES = 1.15; // line height, as a multiple of the font size

/** Create the labels at the right ends of a chart's curves. @param {HTMLElement} host the chart's element */
export function createEndLabels(host) {
  const list = element("div", { class: "ends", "aria-hidden": "true" });
  const pen = /** @type {CanvasRenderingContext2D} */ (element("canvas", {}).getContext("2d"));
  // of the chart at the last measurement, in px; ``lead``: distance from the end of a curve to its label
  let cached = { width: 0, size: 0, lead: 0 };
  host.append(list);

  /**
   * Return the labels as they fit, with the margin for them. Returns null without labels.
   * @param {number} width width of the chart in px @param {Name[]} names
   * @param {number} least the number of characters to reserve for each value @returns {Names|null}
   */
  function space(width, names, least) {
    if (!names.length) return null;
    const size = width === cached.width ? cached.size : readFontSize();
    cached = { width, size, lead: Math.max(18, 1.25 * size) }; // beyond half of the x axis's last number
    const digits = Math.max(least, ...names.map(({ value }) => value.length));
    const all = names.map(({ name }) => name);
    const texts = fitNames(all, digits, MAX_SHARE * width);
    return { width: measureWidth(texts, digits), names, texts };
  }

  /**
   * Return what follows the values: the names in one line, else in several lines, as short as the height allows.
   * @param {string[]} names @param {number} digits of a value @param {number} width maximum width of a label in px
   */
  function fitNames(names, digits, width) {
    const plain = names.map((text) => ` ${text}`);
    if (measureWidth(plain, digits) <= width) return plain;
    const room = Math.floor((width - cached.lead) / (LETTER * cached.size)); // in letters
    const longest = Math.max(...names.map(({ length }) => length));
    for (let most = clampTo(room, ...LINE_LETTERS); most <= longest; most += 1)
      for (const taken of [most, digits + 1]) {
        const wrapped = names.map((name) => wrapName(name, taken, most));
        const lines = wrapped.join("\n").split("\n");
        const fits = lines.every(({ length }) => length <= most);
        if (fits && LINES * cached.size * lines.length <= host.clientHeight) return wrapped;
      }
    return plain;
  }

  /** Return the width of labels in px. @param {string[]} texts what follows a value @param {number} digits of a value */
  function measureWidth(texts, digits) {
    const widths = texts.flatMap((text) => {
      const [first, ...others] = text.split("\n").map((line) => pen.measureText(line).width);
      return [digits * DIGIT * cached.size + first, ...others];
    });
    return cached.lead + Math.ceil(Math.max(...widths)) + 2;
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
      y: size.t + (Number.isFinite(yaxis.d2p(y)) ? clampTo(yaxis.d2p(y), 0, size.h) : size.h),
    }));
    const [right, beyond] = [size.l + size.w, (LINES * cached.size) / 2];
    const heights = names.texts.map((text) => LINES * cached.size * text.split("\n").length);
    const total = heights.reduce((sum, each) => sum + each);
    const low = size.t - beyond;
    const high = Math.max(size.t + size.h + beyond, Math.min(low + total, host.clientHeight)); // next to the x axis
    const wanted = at.map(({ y }) => y);
    const tops = spread(wanted, heights, low, high);
    const labels = names.names.map((name, index) =>
      drawLabel(name, names.texts[index], right + cached.lead, tops[index]),
    );
    const leads = names.names.map((name, index) =>
      drawLead(name, at[index], [right, right + cached.lead], tops[index]),
    );
    render(list, h("svg", { class: "leads" }, leads), h("div", {}, labels));
  }

  return { space, show };
}

/**
 * @param {Name} name @param {string} text what follows the value, as it fits
 * @param {number} left px @param {number} top px
 */
function drawLabel({ value, rule, faint }, text, left, top) {
  const style = `translate: ${left}px calc(${top}px - 50%)${faint ? "; opacity: 0.7" : ""}`;
  return h("span", { "data-rule": rule, style }, h("b", {}, value), text[0], h("i", {}, text.slice(1)));
}

/**
 * @param {Name} name @param {{x: number, y: number}} from the end of the curve in px
 * @param {[number, number]} ends right end of the chart, and left end of the label, in px
 * @param {number} top position of the label in px
 */
function drawLead({ colour, rule, faint }, { x, y }, [right, left], top) {
  const far = x < right - 8;
  return h("path", {
    opacity: faint ? 0.4 : null,
    d: `M${x + 4} ${y}H${right + 3}L${left - 5} ${top}`,
    stroke: colour,
    "data-rule": rule,
    "stroke-dasharray": far ? "1 4" : "none",
  });
}
