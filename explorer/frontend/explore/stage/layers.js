// The layers of the chart: a switch for each in the strip, and what is said of the one that is on.

import { LAYERS } from "../../chart/scene/layers.js";
import { catalogue } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Picture } from "../../chart/scene/picture.js" */

/** @param {import("../../choice/store.js").Store} store */
export function createSwitches(store) {
  const switches = Object.entries(catalogue().layers).map(([key, { label, meaning }]) => {
    const box = element("input", { type: "checkbox", onchange: () => turn(key, box.checked) });
    return { key, box, element: element("label", { class: "end layer", title: meaning }, box, label) };
  });

  /** @param {string} key @param {boolean} on */
  function turn(key, on) {
    store.change({ ...store.now, layer: on ? key : "" });
  }

  return {
    elements: switches.map((one) => one.element),
    /** @param {Choice} choice */
    show({ layer }) {
      for (const { key, box } of switches) box.checked = key === layer;
    },
  };
}

/** The sentences on the layer that is on, below a chart. */
export function createLayerWords() {
  const line = element("p", { class: "layer-words", role: "status", hidden: true });
  return {
    element: line,
    /** Take the space it needs, before curves are drawn. @param {Choice} choice */
    arrange: ({ layer }) => (line.hidden = !layer),
    /** @param {Picture} picture @returns {string} */
    show(picture) {
      const { layer } = picture;
      const words = layer ? LAYERS[layer].words(picture, catalogue().layers[layer].words) : "";
      setText(line, words);
      return words;
    },
  };
}
