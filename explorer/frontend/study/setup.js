// The form with a study's settings: learning rates, seeds, controls and the net.

import { formatNumber } from "../formula/numbers.js";
import { element, createId, setAttribute, setText, setValue, writeValue } from "../elements/dom.js";
import { createFields } from "../train/settings/fields.js";
import { getSetting, withSetting } from "../train/state/tasks.js";
import { readList } from "./lists.js";
import {
  hasControls,
  hasEqualFooting,
  getRateBounds,
  getStudyRates,
  getSharedSettings,
  explainUnscalable,
  withControls,
  withEqualFooting,
  withRates,
} from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Bounds } from "./lists.js" */

const FIRST = ["seeds", "steps"]; // settings that are always visible; the others are folded away

/**
 * Create the form of a study's settings.
 * @param {HTMLElement} host @param {ReturnType<typeof import("../choice/store.js").createStore>} store
 * @param {(wrong: number) => void} onWrong called with the number of fields with invalid text
 */
export function createSetup(host, store, onWrong) {
  const wrong = /** @type {Set<string>} */ (new Set());
  /** Count a field as invalid or valid. @param {string} name @param {boolean} is whether it is invalid */
  const mark = (name, is) => {
    if (is) wrong.add(name);
    else wrong.delete(name);
    onWrong(wrong.size);
  };
  const rates = createListField("Rates lr", {
    meaning: "Each rule is trained at each rate and judged at its own best one.",
    bounds: getRateBounds,
    onNumbers: (numbers) => store.change(withRates(store.current, numbers), { target: "rates" }),
    onWrong: (is) => mark("rates", is),
  });
  const box = element("input", {
    type: "checkbox",
    onchange: () => store.change(withControls(store.current, box.checked)),
  });
  const unscaled = element("small", { id: createId(), class: "wide unscaled" });
  const equal = element("input", {
    type: "checkbox",
    "aria-describedby": unscaled.id,
    onchange: () => store.change(withEqualFooting(store.current, equal.checked)),
  });
  const fields = createFields(getSharedSettings(), store, (name, text, phase) =>
    store.change(withSetting(store.current, name, text), { phase, target: name }),
  );
  const [first, rest] = [true, false].map((is) => fields.filter(({ name }) => FIRST.includes(name) === is));
  host.append(
    element(
      "div",
      { class: "settings" },
      rates.element,
      ...first.map(({ field }) => field.element),
      element("label", { class: "wide tick flex-row" }, box, "Controls: zero and reversed gradient"),
    ),
    element(
      "details",
      {},
      element("summary", {}, "Net and optimiser"),
      element(
        "div",
        { class: "settings" },
        element(
          "label",
          { class: "wide tick flex-row" },
          equal,
          "Equal footing: divide each rule's rates by its share",
        ),
        unscaled,
        ...rest.map(({ field }) => field.element),
      ),
    ),
  );
  return {
    /** @param {Choice} choice */
    show(choice) {
      rates.show(getStudyRates(choice));
      box.checked = hasControls(choice);
      const reason = explainUnscalable(choice);
      equal.checked = hasEqualFooting(choice);
      // disabled only if unchecked, so that a link's setting can be undone
      equal.disabled = reason !== "" && !equal.checked;
      setText(unscaled, reason);
      for (const { name, field } of fields) field.show(getSetting(choice, name));
    },
  };
}

/** @param {string} label @param {HTMLElement} field @param {string} meaning the tooltip @param {...Node} more */
function wrapField(label, field, meaning, ...more) {
  return element(
    "div",
    { class: "setting wide", title: meaning },
    element("label", { for: field.id }, label),
    field,
    ...more,
  );
}

/**
 * Create a text field for several numbers. Invalid text stays in it, with a message below.
 * @param {string} label
 * @param {{meaning: string, bounds: () => Bounds, onNumbers: (numbers: number[]) => void, onWrong: (is: boolean) =>
 *   void}} actions ``onNumbers``: called with valid numbers; ``onWrong``: called with whether the text is invalid
 */
function createListField(label, { meaning, bounds, onNumbers, onWrong }) {
  const error = element("small", { id: createId(), class: "refusal", role: "alert" });
  const field = element("input", {
    ...{ id: createId(), type: "text", autocomplete: "off", spellcheck: "false" },
    "aria-describedby": error.id,
    onchange: acceptInput,
  });
  let displayed = "";

  /** @param {string} sentence the error, or "" to remove it */
  function refuse(sentence) {
    setText(error, sentence);
    setAttribute(field, "aria-invalid", sentence && "true");
    onWrong(sentence !== "");
  }

  function acceptInput() {
    const { numbers, sentence } = readList(field.value, bounds());
    refuse(sentence);
    if (sentence) return;
    writeValue(field, textOf(numbers));
    if (textOf(numbers) !== displayed) onNumbers(numbers);
  }

  return {
    element: wrapField(label, field, meaning, error),
    /** Show numbers. An invalid text stays until they change. @param {number[]} numbers */
    show(numbers) {
      const isNew = textOf(numbers) !== displayed;
      displayed = textOf(numbers);
      if (isNew && field.matches("[aria-invalid]")) refuse("");
      if (!field.matches("[aria-invalid]")) setValue(field, displayed);
    },
  };
}

/** @param {number[]} numbers */
function textOf(numbers) {
  return numbers.map(formatNumber).join(", ");
}
