// The layers of the chart: a checkbox for each in the strip, and below the chart a text about the active layer with its
// controls.

import { getLayerText } from "../../chart/scene/layers.js";
import { getCatalogue } from "../../choice/entries.js";
import { element, setText } from "../../elements/dom.js";
import { createControls } from "./controls.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Picture } from "../../chart/scene/picture.js" */
/** @typedef {import("../../choice/store.js").Store} Store */

/** Create the checkboxes of all layers. @param {Store} store */
export function createSwitches(store) {
  const switches = Object.entries(getCatalogue().layers).map(([key, { label, meaning }]) => {
    const box = element("input", { type: "checkbox", onchange: () => turn(key, box.checked) });
    return { key, box, element: element("label", { title: meaning }, box, label) };
  });

  /** Turn a layer on or off. @param {string} key @param {boolean} on */
  function turn(key, on) {
    store.change({ ...store.current, layer: on ? key : "" });
  }

  return {
    element: element("div", { class: "end layers" }, ...switches.map((one) => one.element)),
    /** Show which layer is active. @param {Choice} choice */
    show({ layer }) {
      for (const { key, box } of switches) box.checked = key === layer;
    },
  };
}

/** Create the text below a chart about the active layer, and its controls. @param {Store} store */
export function createLayerWords(store) {
  const line = element("p", { role: "status" });
  const place = element("div", { class: "layer-controls" });
  const container = element("div", { class: "layer-words", hidden: true }, place, line);
  let open = "";
  let controls = createControls({}, store);

  /** Create the controls of a layer. @param {string} layer */
  function build(layer) {
    controls = createControls(layer ? getCatalogue().layers[layer].controls : {}, store);
    place.replaceChildren(...controls.elements);
    open = layer;
  }

  return {
    element: container,
    /** Reserve the necessary space before curves are drawn. @param {Choice} choice */
    arrange(choice) {
      container.hidden = !choice.layer;
      container.closest(".chart")?.classList.toggle("layered", Boolean(choice.layer));
      if (choice.layer !== open) build(choice.layer);
      controls.show(choice);
    },
    /** Show the text about a picture's layer, and return it. @param {Picture} picture @returns {string} */
    show(picture) {
      const { layer } = picture;
      const words = layer ? getLayerText(picture, getCatalogue().layers[layer].label) : "";
      setText(line, words);
      return words;
    },
  };
}
