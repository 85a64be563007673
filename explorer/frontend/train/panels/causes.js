// The panel that shows why units have no gradient: one bar per rule, divided by cause.

import { updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { formatShare } from "../../formula/numbers.js";

/** @import { PanelSpec, Observation } from "./panel.js" */
/**
 * A part of the bar of causes. ``whole`` is the fraction of it in units for which the cause holds for every example.
 * @typedef {{share: number, whole: number, text: string}} Part
 * ``channels`` holds the share without a gradient for each channel of a convolution.
 * @typedef {{words: string, parts: Part[], channels: number[]}} Picture
 */

const PASSES = 0; // index of the part with a gradient, which is never hatched
const SPACE = 0.2; // a part is labelled if it is at least this fraction of the bar

/** @type {PanelSpec} */
export const panel = {
  order: 7,
  opens: true,
  layered: true,
  suits: () => true,
  rows: 1.5,
  picture: pictureOf,
  create,
  request: "unit",
  legend: [
    { swatch: "cause-0", numbers: { cause: 0 } },
    { swatch: "cause-1", numbers: { cause: 1 } },
    { swatch: "cause-2", numbers: { cause: 2 } },
    { swatch: "cause-3", numbers: { cause: 3 } },
    { swatch: "cause-2 every" },
  ],
};

/** @param {Observation} observation @returns {Picture} */
function pictureOf({ measured: { shares, whole, channels = [], words }, layer }) {
  const at = Math.min(layer, shares.length - 1);
  const parts = Array.from(shares[at], (share, cause) => ({
    share,
    whole: cause === PASSES ? 0 : whole[at][cause],
    text: share >= SPACE ? formatShare(share) : "",
  }));
  return { words: words[at], parts, channels: Array.from(channels[at] ?? []) };
}

/** @param {HTMLElement} cell */
function create(cell) {
  const bar = element("div", { class: "stack" });
  const strip = element("div", { class: "by-channel" });
  cell.append(bar, strip);

  return {
    /** @param {Picture} picture */
    draw({ parts, channels }) {
      updateChildren(strip, channels, createChannel, (channel, lacking, at) => {
        channel.firstElementChild.style.height = `${(100 * lacking).toFixed(1)}%`;
        setAttribute(channel, "title", `Channel ${at + 1}: ${formatShare(lacking)} without a gradient`);
      });
      setAttribute(strip, "hidden", !channels.length);
      const halves = parts.flatMap(({ share, whole, text }) => [
        { size: share - whole, text: share - whole >= whole ? text : "" },
        { size: whole, text: whole > share - whole ? text : "" },
      ]);
      updateChildren(bar, halves, createHalf, drawHalf);
    },
  };
}

function createChannel() {
  return element("span", {}, element("i", {}));
}

/** Create one segment of the bar of causes. Segments with odd indices are hatched. @param {number} index */
function createHalf(index) {
  const kind = index % 2 ? "every" : "some";
  return element("span", { class: `cause-${Math.floor(index / 2)} ${kind}` }, element("b", {}));
}

/** @param {HTMLElement} half @param {{size: number, text: string}} picture */
function drawHalf({ style, firstElementChild: label }, { size, text }) {
  style.flexGrow = Math.max(size, 0).toFixed(4);
  setText(/** @type {Element} */ (label), text);
  setAttribute(/** @type {Element} */ (label), "hidden", !text);
}
