// The layers of the chart: a switch for each in the strip, and below the chart what is said of the one that is on, with
// its controls.

import { layerWords } from "../../chart/scene/layers.js";
import { getCatalogue } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";
import { createControls } from "./controls.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Picture } from "../../chart/scene/picture.js" */
/** @typedef {import("../../choice/store.js").Store} Store */

/** @param {Store} store */
export function createSwitches(store) {
  const switches = Object.entries(getCatalogue().layers).map(([key, { label, meaning }]) => {
    const box = element("input", { type: "checkbox", onchange: () => turn(key, box.checked) });
    return { key, box, element: element("label", { title: meaning }, box, label) };
  });

  /** @param {string} key @param {boolean} on */
  function turn(key, on) {
    store.change({ ...store.current, layer: on ? key : "" });
  }

  return {
    element: element("div", { class: "end layers" }, ...switches.map((one) => one.element)),
    /** @param {Choice} choice */
    show({ layer }) {
      for (const { key, box } of switches) box.checked = key === layer;
    },
  };
}

/** The sentences on the layer that is on, below a chart, and its controls. @param {Store} store */
export function createLayerWords(store) {
  const line = element("p", { role: "status" });
  const place = element("div", { class: "layer-controls" });
  const whole = element("div", { class: "layer-words", hidden: true }, place, line);
  let open = "";
  let controls = createControls({}, store);

  /** @param {string} layer */
  function build(layer) {
    controls = createControls(layer ? getCatalogue().layers[layer].controls : {}, store);
    place.replaceChildren(...controls.elements);
    open = layer;
  }

  return {
    element: whole,
    /** Take the space it needs, before curves are drawn. @param {Choice} choice */
    arrange(choice) {
      whole.hidden = !choice.layer;
      whole.closest(".chart")?.classList.toggle("layered", Boolean(choice.layer));
      if (choice.layer !== open) build(choice.layer);
      controls.show(choice);
    },
    /** @param {Picture} picture @returns {string} */
    show(picture) {
      const { layer } = picture;
      const words = layer ? layerWords(picture, getCatalogue().layers[layer].label) : "";
      setText(line, words);
      return words;
    },
  };
}
