// What stands by the chart: the upstream gradient, the range, and examples to start from.

import { withG, withRange } from "../choice/choice.js";
import { element, setValue, writeValue } from "../elements/dom.js";
import { createExamples } from "../cards/examples.js";
import { numberText, typedNumber } from "../formula/numbers.js";
import { createSlider } from "../elements/slider.js";

/** @typedef {import("../choice/choice.js").Choice} Choice */
/** @typedef {import("../cards/examples.js").Example} Example */

const G_ENDS = /** @type {[number, number]} */ ([-2, 2]);

/**
 * The strip below the chart. ``examples`` may be empty.
 * @param {HTMLElement} host
 * @param {{store: import("../choice/store.js").Store, examples: Example[]}} options
 */
export function createStrip(host, { store, examples }) {
  const now = () => /** @type {Choice} */ (store.choice);
  const g = createSlider({
    name: "Upstream gradient g",
    onChange: (value, phase, byKeys) =>
      store.change(withG(now(), value), { phase, thing: byKeys ? "g" : null }),
  });
  const from = endField("From", 0, (value) => withRange(now(), value, now().range[1]));
  const to = endField("To", 1, (value) => withRange(now(), now().range[0], value));
  const menu = createExamples(examples, (choice) =>
    store.change({ ...choice, training: now().training, section: now().section }),
  );
  host.append(g.element, from.label, to.label, ...(examples.length ? [menu.element] : []));

  /** @param {string} name @param {0|1} place @param {(value: number) => Choice} next */
  function endField(name, place, next) {
    const field = element("input", { type: "number", step: "any", "aria-label": name });
    field.addEventListener("change", () => {
      const value = typedNumber(field.value);
      if (value !== null) store.change(next(value));
      writeValue(field, endText(now().range, place)); // what has become of it, while the field still has the focus
    });
    return { field, label: element("label", { class: "end" }, name, field) };
  }

  /** @param {Choice} choice */
  function show(choice) {
    g.update(choice.g, [Math.min(G_ENDS[0], choice.g), Math.max(G_ENDS[1], choice.g)]);
    setValue(from.field, endText(choice.range, 0));
    setValue(to.field, endText(choice.range, 1));
    menu.show(choice);
  }

  const stop = store.subscribe(show);
  if (store.choice) show(store.choice);
  return { destroy: stop };
}

/**
 * One end of a range, with as many digits as tell it from the other.
 * @param {[number, number]} range
 * @param {0|1} place
 */
function endText(range, place) {
  const size = Math.max(Math.abs(range[0]), Math.abs(range[1]));
  const digits = Math.ceil(Math.log10(size / (range[1] - range[0]))) + 4;
  return digits > 6
    ? String(Number(range[place].toPrecision(Math.min(17, digits))))
    : numberText(range[place]);
}
