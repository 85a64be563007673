// Controls for query parameters of the page: a menu for a fixed list of values, a slider for a number.

import { getQueryParameter } from "../../choice/view.js";
import { element } from "../../elements/dom.js";
import { createSlider } from "../../elements/slider.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { QueryParameter } from "../../choice/view.js" */
/** @typedef {import("../../choice/store.js").Store} Store */

const MIN_LOG_RATIO = 100; // a slider with a larger ratio of its ends is logarithmic

/**
 * Create a menu or slider for some of the page's settings.
 * @param {Record<string, string>} labels labels of the controls, by query parameter @param {Store} store
 */
export function createControls(labels, store) {
  const controls = Object.entries(labels).map(([name, label]) => {
    const declared = getQueryParameter(name);
    /** @type {{element: HTMLElement, show: (value: *) => void}} */
    const control = (declared.kind === "choice" ? createChoice : createNumber)(declared, label, store);
    return { name, ...control };
  });
  return {
    elements: controls.map((one) => one.element),
    /** @param {Choice} choice */
    show(choice) {
      for (const { name, show } of controls) show(/** @type {*} */ (choice)[name]);
    },
  };
}

/** @param {QueryParameter} declared @param {string} label @param {Store} store */
function createChoice({ name, words }, label, store) {
  const options = Object.entries(words).map(([value, text]) => element("option", { value }, text));
  const list = element(
    "select",
    { onchange: () => store.change({ ...store.current, [name]: list.value }) },
    ...options,
  );
  return {
    element: element("label", {}, label, list),
    /** @param {string} value */
    show: (value) => (list.value = value),
  };
}

/** @param {QueryParameter} declared @param {string} label @param {Store} store */
function createNumber({ name, low, high }, label, store) {
  const slider = createSlider({
    name: label,
    onChange: (value, phase, byKeys) =>
      store.change({ ...store.current, [name]: value }, { phase, target: byKeys ? name : null }),
  });
  return {
    element: slider.element,
    /** @param {number} value */
    show: (value) => slider.update(value, [low, high], low > 0 && high / low > MIN_LOG_RATIO, [low, high]),
  };
}
