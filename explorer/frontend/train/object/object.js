// The drawing of the net: its forward pass between the cards of op and rules, and the backward pass inside each rule's
// card.

import { element } from "../../elements/dom.js";
import { createLane, LANE_KEY } from "./lane.js";
import { createNet } from "./net.js";
import { createReads } from "./reads.js";

/** @import { Holder } from "../../cards/card.js" */
/** @import { Picture } from "./view-model.js" */

const GAP = "minmax(0.6rem, var(--gap, 0.55fr))"; // between two parts of the net
const [FEW_LANES, MANY_LANES] = [2, 3]; // maximum number of rules for tall drawings, and for any

/**
 * Create the drawing of the net: its forward pass, and the backward pass in each rule's card.
 * @param {{object: HTMLElement, cards: HTMLElement, reads: HTMLElement}} hosts ``cards``: moved into ``object``
 * @param {{cardOf: (slot: number) => Holder|undefined, onWhy: (rule: string|null) => void, onFold: () => void}} on
 *   ``cardOf``: returns the card in a slot, that of the op in −1; ``onWhy``: opens a rule's evidence; ``onFold``:
 *   shows or hides the middle layers
 */
export function createObject({ object, cards, reads }, { cardOf, onWhy, onFold }) {
  const net = element("div", {
    class: "net",
    role: "group",
    "aria-label": "One example on its way through the net",
  });
  const forward = createNet(net, onFold);
  const wall = createReads(reads);
  const lanes = /** @type {WeakMap<Holder, ReturnType<typeof createLane>>} */ (new WeakMap());
  object.append(cards, element("p", { class: "lane-key" }, LANE_KEY));
  const key = LANE_KEY.split(/(?= By)/).map((words) => element("span", {}, words));
  cardOf(-1)?.hold([element("p", { class: "op-key" }, ...key)]);
  cards.querySelector(".card.op")?.after(net);

  /** Return the drawing of the backward pass in a rule's card. It is created on first use. @param {Holder} card */
  function getLane(card) {
    const existing = lanes.get(card);
    if (existing) return existing;
    const lane = createLane(onWhy);
    card.hold(lane.nodes);
    lanes.set(card, lane);
    return lane;
  }

  return {
    /** @param {Picture} picture */
    show({ plates, lanes: shown, forward: drawn, reads: images }) {
      object.style.setProperty("--columns", formatGridColumns(plates.slice(1, -1)));
      object.style.setProperty("--lanes", String(shown.length));
      object.classList.toggle("few", shown.length <= FEW_LANES);
      object.classList.toggle("many", shown.length > MANY_LANES);
      object.classList.toggle("crowded", shown.length > MANY_LANES + 1);
      object.classList.toggle("long", plates.length > 5);
      const isDeep = plates.some(({ folded }) => folded > 1);
      object.classList.toggle("deep", isDeep);
      forward.show(drawn);
      wall.show(images);
      for (const lane of shown) {
        const card = cardOf(lane.slot);
        if (card) getLane(card).show(lane);
      }
    },
  };
}

/** Return CSS grid columns for the net's parts, of which a fold is wider. @param {{folded: number}[]} inner without ends */
export function formatGridColumns(inner) {
  const widths = inner.map(({ folded }) => 1 + 0.3 * Math.min(folded, 2)); // for "w2 + op", "by 1.4–2.3"
  const middle = widths.map((width) => `${GAP} minmax(0, ${width}fr)`).join(" ");
  return `minmax(var(--ends, 5.5rem), 1.4fr) ${middle} ${GAP} minmax(var(--ends, 0px), 1fr)`;
}
