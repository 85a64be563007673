// The layers of the chart: a switch for each in the strip, and below the chart what is said of the one that is on, with
// its controls.

import { LAYERS } from "../../chart/scene/layers.js";
import { catalogue } from "../../choice/entries.js";
import { wordOf } from "../../choice/view.js";
import { element, setText } from "../../elements/dom.js";
import { createSlider } from "../../elements/slider.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Picture } from "../../chart/scene/picture.js" */
/** @import { Word } from "../../choice/view.js" */
/** @typedef {import("../../choice/store.js").Store} Store */

const DECADES = 100; // a slider over more than so much moves by factors

/** @param {Store} store */
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

/** The sentences on the layer that is on, below a chart, and its controls. @param {Store} store */
export function createLayerWords(store) {
  const line = element("p", { role: "status" });
  const place = element("div", { class: "layer-controls" });
  const whole = element("div", { class: "layer-words", hidden: true }, place, line);
  let open = "";
  let controls = /** @type {{name: string, show: (value: *) => void}[]} */ ([]);

  /** @param {string} layer */
  function build(layer) {
    const made = Object.entries(layer ? catalogue().layers[layer].controls : {}).map(([name, label]) => {
      const word = wordOf(name);
      return { name, ...(word.kind === "choice" ? createChoice : createNumber)(word, label, store) };
    });
    place.replaceChildren(...made.map((one) => one.element));
    controls = made;
    open = layer;
  }

  return {
    element: whole,
    /** Take the space it needs, before curves are drawn. @param {Choice} choice */
    arrange(choice) {
      whole.hidden = !choice.layer;
      whole.closest(".chart")?.classList.toggle("layered", Boolean(choice.layer));
      if (choice.layer !== open) build(choice.layer);
      for (const { name, show } of controls) show(/** @type {*} */ (choice)[name]);
    },
    /** @param {Picture} picture @returns {string} */
    show(picture) {
      const { layer } = picture;
      const words = layer ? LAYERS[layer].words(picture, catalogue().layers[layer].words) : "";
      setText(line, words);
      return words;
    },
  };
}

/** A list for a word of texts. @param {Word} word @param {string} label @param {Store} store */
function createChoice({ name, words }, label, store) {
  const options = Object.entries(words).map(([value, text]) => element("option", { value }, text));
  const list = element(
    "select",
    { onchange: () => store.change({ ...store.now, [name]: list.value }) },
    ...options,
  );
  return {
    element: element("label", {}, label, list),
    /** @param {string} value */
    show: (value) => (list.value = value),
  };
}

/** A slider for a word of a number. @param {Word} word @param {string} label @param {Store} store */
function createNumber({ name, low, high }, label, store) {
  const slider = createSlider({
    name: label,
    onChange: (value, phase, byKeys) =>
      store.change({ ...store.now, [name]: value }, { phase, thing: byKeys ? name : null }),
  });
  return {
    element: slider.element,
    /** @param {number} value */
    show: (value) => slider.update(value, [low, high], low > 0 && high / low > DECADES, [low, high]),
  };
}
