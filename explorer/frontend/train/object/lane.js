// The drawing of the backward pass under one rule: how the gradient goes from the loss back to the first weights.

import { element, setAttribute } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { drawPaths, makeBarPath, makeLinePath } from "../widgets/svg-paths.js";

/** @import { Band, Lane, LanePlate } from "./view-model.js" */

/** The meaning of the numbers in a lane. */
export const LANE_KEY = "%: gradient let through. By: weights moved.";
// the finding, the rule's place among all, and the reason for it; a point in a number ends no sentence
const SENTENCES = /^(.*?\.?)(?:( (?<=\. ).*?\.)( .*)?)?$/;
const MAX_WIDTH = 1.3; // maximum width of a band; 1 is that of the gradient at the loss

/**
 * Create a card with a rule's name and the drawing of its backward pass, for pages on which the rule cannot be changed.
 * @param {Lane} first its first contents
 */
export function createLaneCard({ line: { label } }) {
  const lane = createLane(() => undefined);
  const top = element("div", { class: "top flex-row" }, element("h2", {}, label));
  const card = element("div", { class: "card rule", role: "group", "aria-label": label }, top, ...lane.nodes);
  return {
    element: card,
    /** @param {Lane} shown */
    show(shown) {
      setAttribute(card, "style", `--colour: ${shown.line.colour}; border-color: ${shown.line.colour}`);
      lane.show({ ...shown, why: null });
    },
  };
}

/**
 * Create the drawing of the backward pass under one rule.
 * @param {(rule: string|null) => void} onWhy called with the rule whose evidence to open, or null to close it
 */
export function createLane(onWhy) {
  const score = element("span", { class: "lane-score" });
  const plates = element("div", { class: "lane-plates" });
  const bands = element("div", { class: "lane-bands" });
  const loss = element("span", { class: "loss" }, "loss");
  const sentence = element("p", { class: "line" });

  return {
    nodes: [score, plates, bands, loss, sentence],
    /** @param {Lane} lane */
    show({ line, plates: parts, bands: gaps, said, score: text, before, why }) {
      const [mean, ...spread] = before.split(/(?= )/); // on a stage there is room for the mean
      render(score, text, h("small", { hidden: !before }, `before ${mean}`, h("span", {}, spread.join(""))));
      render(plates, parts.map(drawPlate));
      render(bands, gaps.map(drawBand));
      loss.style.gridColumn = String(2 * parts.length + 3);
      setAttribute(loss, "hidden", !parts.length);
      const button = {
        ...{ class: "why-of bare", hidden: why === null, "aria-label": `Why? ${line.label}` },
        ...{ "aria-expanded": String(why === true), onclick: () => onWhy(why ? null : line.key) },
      };
      const [, ...clauses] = SENTENCES.exec(said.replaceAll(" %", "\u00a0%")) ?? []; // no line begins with "%"
      const kinds = ["finding", clauses[1]?.includes(" below ") ? "distance" : "further", "further"];
      const words = kinds.map((kind, at) => h("span", { class: kind }, splitDetails(clauses[at] ?? "")));
      render(sentence, h("span", {}, words), " ", h("button", button, "Why?"));
    },
  };
}

// A distance's unit and interval are parts of their own: lanes without room for a sentence leave them out.
const splitDetails = (/** @type {string} */ clause) =>
  clause
    .split(/( points(?= below)|(?<=Perhaps.*) the best| \(95.*\))/)
    .map((part, at) => (at % 2 ? h("span", {}, part) : part));

/** @param {LanePlate} part @param {number} index */
function drawPlate({ plate, words: [name, detail], still, sees }, index) {
  const kind = `lane-plate${plate.kind === "op" ? " of-op" : ""}${still ? " still" : ""}`;
  const drawing =
    sees &&
    drawPaths({
      data: sees.parts[0].map(makeBarPath).join(""),
      zero: makeLinePath([0, 1].map((x) => ({ x, y: sees.zero }))),
      curve: makeLinePath(sees.curve),
    });
  const title =
    sees && `What the op sees${sees.curve.length ? ", and the rule's curve over it" : ""}. ${sees.words}`;
  const style = `grid-column: ${2 * index + 3}`;
  return h("div", { class: kind, title, style }, drawing, h("b", {}, name), h("span", {}, detail));
}

/** @param {Band} band @param {number} index */
function drawBand({ left, text, known }, index) {
  const kind = `band${known ? "" : " unknown"}${left === null ? " none" : ""}`;
  const width = Math.min(left ?? 0, MAX_WIDTH).toFixed(3);
  const style = `grid-column: ${2 * index + 4}`;
  const title = text && "What the rule leaves of the gradient's size, of that at the loss";
  return h("div", { class: kind, title, style, "--left": width }, h("small", {}, text), h("i"));
}
