// The drawing of the backward pass under one rule: how the gradient goes from the loss back to the first weights.

import { updateChildren } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { makeBarPath, makeLinePath } from "../widgets/svg-paths.js";

/** @import { Band, Lane, LanePlate } from "./view-model.js" */

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
  const plates = element("div", { class: "lane-plates" });
  const bands = element("div", { class: "lane-bands" });
  const loss = element("span", { class: "loss" }, "loss");
  const score = element("span", { class: "lane-score" });
  const text = element("span", {});
  const whyButton = element("button", { class: "why-of bare" }, "Why?");
  const sentence = element("p", { class: "line" }, text, " ", whyButton);
  const nodes = [score, plates, bands, loss, sentence];

  return {
    nodes,
    /** @param {Lane} lane */
    show(lane) {
      updateChildren(plates, lane.plates, createPlate, (node, plate, at) => {
        node.style.gridColumn = String(2 * at + 3);
        drawPlate(node, plate);
      });
      const createBand = () => element("div", { class: "band" }, element("small", {}), element("i", {}));
      updateChildren(bands, lane.bands, createBand, (node, band, at) => {
        node.style.gridColumn = String(2 * at + 4);
        drawBand(node, band);
      });
      loss.style.gridColumn = String(2 * lane.plates.length + 3);
      setAttribute(loss, "hidden", !lane.plates.length);
      setText(score, lane.score);
      setText(text, lane.said);
      setAttribute(whyButton, "hidden", lane.why === null);
      setAttribute(whyButton, "aria-label", `Why? ${lane.line.label}`);
      setAttribute(whyButton, "aria-expanded", String(lane.why === true));
      whyButton.onclick = () => onWhy(lane.why ? null : lane.line.key);
    },
  };
}

function createPlate() {
  const svg = shape("svg", { viewBox: "0 0 1000 1000", preserveAspectRatio: "none", "aria-hidden": "true" });
  svg.append(...["data", "zero", "curve"].map((kind) => shape("path", { class: kind })));
  return element("div", { class: "lane-plate" }, svg, element("b", {}), element("span", {}));
}

/** @param {HTMLElement} node @param {LanePlate} plate */
function drawPlate(node, { plate, words, still, sees }) {
  node.classList.toggle("of-op", plate.kind === "op");
  node.classList.toggle("still", still);
  const [svg, name, detail] = node.children;
  svg.toggleAttribute("hidden", !sees);
  setText(name, words[0] ?? "");
  setText(detail, words[1] ?? "");
  if (!sees) return;
  const [data, zero, curve] = svg.children;
  setAttribute(data, "d", sees.parts[0].map(makeBarPath).join(""));
  setAttribute(zero, "d", makeLinePath([0, 1].map((x) => ({ x, y: sees.zero }))));
  setAttribute(curve, "d", makeLinePath(sees.curve));
  setAttribute(
    node,
    "title",
    `What the op sees${sees.curve.length ? ", and the rule's curve over it" : ""}. ${sees.words}`,
  );
}

/** @param {HTMLElement} node @param {Band} band */
function drawBand(node, { left, text, known }) {
  node.classList.toggle("unknown", !known);
  node.classList.toggle("none", left === null);
  node.style.setProperty("--left", String(Math.min(left ?? 0, MAX_WIDTH).toFixed(3)));
  setText(/** @type {Element} */ (node.firstElementChild), text);
}
