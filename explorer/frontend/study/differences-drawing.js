// The chart of how far each rule's score is from the best rule's, with one ring per random seed.

import { updateChildren } from "../elements/children.js";
import { element, setAttribute, setText } from "../elements/dom.js";

/** @import { Panel, Picture, Row } from "./differences.js" */

/** @param {{headline: HTMLElement, drawing: HTMLElement}} hosts */
export function createDifferences({ headline, drawing }) {
  const equal = element("p", { class: "equal" });
  const panels = ["near", "far"].map((kind) => createPanel(kind));
  drawing.append(...panels.map(({ node }) => node), equal);
  return {
    /** @param {Picture|null} picture */
    show(picture) {
      setText(headline, (picture?.headline ?? "").replaceAll(" %", "\u00a0%")); // keeps "%" from starting a line
      setAttribute(drawing, "hidden", !picture);
      if (!picture) return;
      panels[0].show(picture.near);
      panels[1].show(picture.far);
      setText(equal, picture.equal.join(" "));
    },
  };
}

/** @param {string} kind */
function createPanel(kind) {
  const heading = element("h2", {});
  const rows = element("div", { class: "rows" });
  const ticks = element("div", { class: "scale" });
  const node = element(
    "section",
    { class: `apart ${kind}` },
    heading,
    rows,
    element("div", { class: "ticks", "aria-hidden": "true" }, ticks),
  );
  return {
    node,
    /** @param {Panel|null} panel */
    show(panel) {
      setAttribute(node, "hidden", !panel);
      if (!panel) return;
      setText(heading, panel.heading);
      node.style.setProperty("--zero", toPercent(panel.zero));
      updateChildren(rows, panel.rows, createRow, drawRow);
      updateChildren(
        ticks,
        panel.ticks,
        () => element("span", {}),
        (tick, { at, text }) => {
          tick.style.left = toPercent(at);
          setText(tick, text);
        },
      );
    },
  };
}

function createRow() {
  const name = element("p", { class: "named" }, element("b", {}), element("small", {}));
  const band = element("i", { class: "band" });
  const middle = element("i", { class: "middle" });
  const track = element(
    "div",
    { class: "along", role: "img" },
    band,
    element("div", { class: "seeds" }),
    middle,
  );
  return element("div", { class: "apart-row" }, name, track, element("p", { class: "words-of" }));
}

/** @param {HTMLElement} node @param {Row} row */
function drawRow(node, { key, name, note, colour, seeds, middle, ends, words }) {
  const [title, track, sentence] = node.children;
  const [band, rings, diamond] = /** @type {HTMLElement[]} */ ([...track.children]);
  setAttribute(node, "data-rule", key);
  node.style.setProperty("--colour", colour);
  setText(title.children[0], name);
  setText(title.children[1], note);
  setText(sentence, words);
  setAttribute(track, "aria-label", `${name}, ${note}: ${words}`);
  setAttribute(band, "hidden", !ends);
  if (ends) Object.assign(band.style, { left: toPercent(ends[0]), width: toPercent(ends[1] - ends[0]) });
  setAttribute(diamond, "hidden", middle === null);
  diamond.style.left = toPercent(middle ?? 0);
  updateChildren(
    rings,
    seeds,
    () => element("i", {}),
    (ring, at) => {
      ring.style.left = toPercent(at);
    },
  );
}

/** Return a fraction as a CSS percentage. @param {number} share */
function toPercent(share) {
  return `${(100 * share).toFixed(2)}%`;
}
