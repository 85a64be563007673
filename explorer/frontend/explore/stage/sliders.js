// Sliders below a chart: the upstream gradient g and, in a lesson, parameters without a handle on the chart.

import { getControls, getEntries, setG } from "../../choice/choice.js";
import { createParameterSlider } from "../../choice/sliders.js";
import { getQueryBounds } from "../../choice/view.js";
import { listGrips } from "../../chart/scene/grips.js";
import { createSlider } from "../../elements/slider.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Control } from "../../formula/controls.js" */
/** @import { Store } from "../../choice/store.js" */

const ENDS = [-2, 2]; // default ends of the slider for g

/** Create the slider of the upstream gradient g. @param {Store} store */
export function createG(store) {
  const slider = createSlider({
    name: "Upstream gradient g",
    onChange: (value, phase, byKeys) =>
      store.change(setG(store.current, value), { phase, target: byKeys ? "g" : null }),
  });
  return {
    element: slider.element,
    /** @param {Choice} choice */
    show({ g }) {
      slider.update(g, [Math.min(ENDS[0], g), Math.max(ENDS[1], g)], false, getQueryBounds("g"));
    },
  };
}

/**
 * Add the sliders below the chart of a lesson to an element. Returns a function that detaches them from the store.
 * @param {HTMLElement} host @param {Store} store
 */
export function addSliders(host, store) {
  const g = createG(store);
  const controls = listSliders(store.current);
  const sliders = controls.map((control) => createParameterSlider(store, control));
  host.append(g.element, ...sliders.map((slider) => slider.element));
  return store.subscribeNow((choice) => {
    g.show(choice);
    controls.forEach((control, index) => sliders[index].show(control));
  });
}

/**
 * Return the controls that get a slider: that of the learning parameter or, if none learns, those of all parameters
 * that cannot be dragged on the chart.
 * @param {Choice} choice @returns {Control[]}
 */
function listSliders(choice) {
  const { op, rules } = getEntries(choice);
  const pictured = rules.map((entry) => ({ entry, hidden: false, colour: "" }));
  const picture = /** @type {*} */ ({ op, rules: pictured, parameters: choice.parameters, neutral: "" });
  const dragged = new Set(listGrips(picture).map(({ name }) => name));
  const isListed = (/** @type {Control} */ { name, parameter }) =>
    choice.learns ? parameter.name === choice.learns : !dragged.has(name);
  return getControls(choice).filter(isListed);
}
