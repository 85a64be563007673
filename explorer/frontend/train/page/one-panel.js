// The panel that supports the sentence about one rule, opened by its button "Why?".

import { createChildren } from "../../elements/children.js";
import { element, setText } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { createPanel } from "../panels/panel.js";

/** @import { LegendEntry } from "../state/series.js" */
/** @import { Row } from "../panels/panel.js" */
/**
 * The contents of the panel. ``why``: the reason for the sentence; ``row``: the panel that supports it, or null;
 * ``seeds``: the scores by seed if these do, with ``left`` from 0 to 1; ``chart``: where to look if a chart does.
 * @typedef {{line: LegendEntry, dots: {left: number, text: string}[]}} Seeds the scores of a rule
 * @typedef {{key: string, label: string, colour: string, why: string, chart: string, isAligned: boolean, seeds:
 *   Seeds[], row: Row|null}} Picture
 */

/** Create the panel. @param {HTMLElement} host @param {{onClose: () => void, onEvidence: () => void}} on */
export function createOnePanel(host, { onClose, onEvidence }) {
  const title = element("h2", {});
  const close = element("button", { class: "close quiet", "aria-label": "Close", onclick: onClose }, "×");
  const reason = element("p", { class: "reason" });
  const seeds = element("div", { class: "seeds" });
  const body = element("div", {});
  const limits = element("p", { class: "note text-small" });
  const all = element("button", { class: "all-evidence bare", onclick: onEvidence }, "All evidence");
  const ignore = () => undefined;
  const panels = createChildren(
    body,
    (/** @type {Row} */ { panel }) => createPanel(panel, { onNumber: ignore, onPick: ignore }),
    ({ panel }) => panel.key,
  );
  host.append(element("header", {}, title, close), reason, seeds, body, limits, all);

  return {
    /** @param {Picture|null} picture null hides the panel */
    show(picture) {
      host.hidden = !picture;
      if (!picture) return;
      host.style.setProperty("--colour", picture.colour);
      setText(title, `Why? ${picture.label}`);
      panels.show(picture.row ? [picture.row] : []);
      setText(reason, picture.why.replaceAll(" %", "\u00a0%"));
      render(seeds, picture.seeds.map(drawSeeds));
      limits.classList.toggle("note", !picture.seeds.length); // explains the dots, also on stage
      setText(limits, picture.row ? picture.row.limits : picture.chart);
    },
  };
}

/** @param {Seeds} rule */
function drawSeeds({ line: { label, colour }, dots }) {
  const words = `${label}, by seed: ${dots.map(({ text }) => text).join(", ")}`;
  const marks = dots.map(({ left, text }) => {
    const size = Math.sqrt(dots.filter((other) => other.left === left).length);
    return h("i", { title: text, style: `margin-left:${100 * left}%;scale:${size}` });
  });
  const frame = { class: "dots", role: "img", "aria-label": words, "--colour": colour };
  return [h("b", {}, label), h("span", frame, marks)];
}
