// The settings of a study as native controls: rates, seeds, controls, and the net.

import { numberText } from "../formula/numbers.js";
import { element, freshId, setAttribute, setText, setValue, writeValue } from "../elements/dom.js";
import { createFields } from "../train/settings/fields.js";
import { settingText, withSetting } from "../train/state/tasks.js";
import { readList } from "./lists.js";
import {
  hasControls,
  isEqual,
  rateBounds,
  ratesOf,
  sharedSettings,
  unequal,
  withControls,
  withEqual,
  withRates,
} from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Bounds } from "./lists.js" */

const FIRST = ["seeds", "steps"]; // settings that every study is asked about; the rest is about the net

/**
 * @param {HTMLElement} host
 * @param {ReturnType<typeof import("../choice/store.js").createStore>} store
 * @param {(wrong: number) => void} onWrong gets the number of fields with an invalid text
 */
export function createSetup(host, store, onWrong) {
  const wrong = /** @type {Set<string>} */ (new Set());
  /** @param {string} name @param {boolean} is */
  const mark = (name, is) => {
    if (is) wrong.add(name);
    else wrong.delete(name);
    onWrong(wrong.size);
  };
  const rates = listField("Rates lr", {
    meaning: "Each rule is trained at each rate and judged at its own best one.",
    bounds: rateBounds,
    onNumbers: (numbers) => store.change(withRates(store.now, numbers), { thing: "rates" }),
    onWrong: (is) => mark("rates", is),
  });
  const box = element("input", {
    type: "checkbox",
    onchange: () => store.change(withControls(store.now, box.checked)),
  });
  const unscaled = element("small", { id: freshId(), class: "wide unscaled" });
  const equal = element("input", {
    type: "checkbox",
    "aria-describedby": unscaled.id,
    onchange: () => store.change(withEqual(store.now, equal.checked)),
  });
  const fields = createFields(sharedSettings(), store, (name, text, phase) =>
    store.change(withSetting(store.now, name, text), { phase, thing: name }),
  );
  const [first, rest] = [true, false].map((is) => fields.filter(({ name }) => FIRST.includes(name) === is));
  host.append(
    element(
      "div",
      { class: "settings" },
      rates.element,
      ...first.map(({ field }) => field.element),
      element("label", { class: "wide tick" }, box, "Controls: zero and reversed gradient beside the rules"),
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
          { class: "wide tick" },
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
      rates.show(ratesOf(choice));
      box.checked = hasControls(choice);
      const reason = unequal(choice);
      equal.checked = isEqual(choice);
      equal.disabled = reason !== "" && !equal.checked; // what a link has can be taken back
      setText(unscaled, reason);
      for (const { name, field } of fields) field.show(settingText(choice, name));
    },
  };
}

/** @param {string} label @param {HTMLElement} field @param {string} meaning @param {...Node} more */
function labelled(label, field, meaning, ...more) {
  return element(
    "div",
    { class: "setting wide", title: meaning },
    element("label", { for: field.id }, label),
    field,
    ...more,
  );
}

/**
 * A field of several numbers. What cannot be read stays in it, with a sentence that says why.
 * @param {string} label
 * @param {{meaning: string, bounds: () => Bounds, onNumbers: (numbers: number[]) => void,
 *   onWrong: (is: boolean) => void}} actions
 */
function listField(label, { meaning, bounds, onNumbers, onWrong }) {
  const mistake = element("small", { id: freshId(), class: "refusal", role: "alert" });
  const field = element("input", {
    ...{ id: freshId(), type: "text", autocomplete: "off", spellcheck: "false" },
    "aria-describedby": mistake.id,
    onchange: typed,
  });
  let displayed = "";

  /** @param {string} sentence "" for none */
  function refuse(sentence) {
    setText(mistake, sentence);
    setAttribute(field, "aria-invalid", sentence && "true");
    onWrong(sentence !== "");
  }

  function typed() {
    const { numbers, sentence } = readList(field.value, bounds());
    refuse(sentence);
    if (sentence) return;
    writeValue(field, textOf(numbers));
    if (textOf(numbers) !== displayed) onNumbers(numbers);
  }

  return {
    element: labelled(label, field, meaning, mistake),
    /** @param {number[]} numbers */
    show(numbers) {
      const anew = textOf(numbers) !== displayed;
      displayed = textOf(numbers);
      if (anew && field.matches("[aria-invalid]")) refuse("");
      if (!field.matches("[aria-invalid]")) setValue(field, displayed);
    },
  };
}

/** @param {number[]} numbers */
function textOf(numbers) {
  return numbers.map(numberText).join(", ");
}
