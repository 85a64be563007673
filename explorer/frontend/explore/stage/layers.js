// Further curves over the chart: a checkbox for each kind, and below the chart a text about those shown, with their
// controls.

import { getLayerText } from "../../chart/scene/layers.js";
import { getCatalogue } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";
import { createControls } from "./controls.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Picture } from "../../chart/scene/picture.js" */
/** @typedef {import("../../choice/store.js").Store} Store */

/** Create the checkboxes that switch further curves on and off. @param {Store} store */
export function createSwitches(store) {
  const switches = Object.entries(getCatalogue().layers).map(([key, { label, meaning }]) => {
    const box = element("input", { type: "checkbox", onchange: () => turn(key, box.checked) });
    return { key, box, element: element("label", { title: meaning }, box, label) };
  });

  /** @param {string} key the key of the curves @param {boolean} on */
  function turn(key, on) {
    store.change({ ...store.current, layer: on ? key : "" });
  }

  return {
    element: element("div", { class: "layers flex-row" }, ...switches.map((one) => one.element)),
    /** @param {Choice} choice */
    show({ layer }) {
      for (const { key, box } of switches) box.checked = key === layer;
    },
  };
}

/** Create the text about further curves below the chart, with their controls. @param {Store} store */
export function createLayerWords(store) {
  const line = element("p", { role: "status" });
  const place = element("div", { class: "layer-controls flex-row" });
  const container = element("div", { class: "layer-words text-small", hidden: true }, place, line);
  let open = "";
  let controls = createControls({}, store);

  /** @param {string} layer the key of the curves */
  function build(layer) {
    controls = createControls(layer ? getCatalogue().layers[layer].controls : {}, store);
    place.replaceChildren(...controls.elements);
    open = layer;
  }

  return {
    element: container,
    /** Reserve space for the text. Call it before the chart measures its size. @param {Choice} choice */
    arrange(choice) {
      container.hidden = !choice.layer;
      container.closest(".chart")?.classList.toggle("layered", Boolean(choice.layer));
      if (choice.layer !== open) build(choice.layer);
      controls.show(choice);
    },
    /** @param {Picture} picture @returns {string} */
    show(picture) {
      const { layer } = picture;
      const words = layer ? getLayerText(picture, getCatalogue().layers[layer].label) : "";
      setText(line, words);
      return words;
    },
  };
}
