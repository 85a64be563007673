// The settings of a study as native controls: rates, seeds, the swept parameter, controls, and the net.

import { trainedControls } from "../choice/choice.js";
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
  sweptOf,
  unequal,
  valueBounds,
  valuesOf,
  withControls,
  withEqual,
  withRates,
  withSweep,
  withValues,
} from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Bounds } from "./lists.js" */

const FIRST = ["seeds", "steps"]; // settings that every study is asked about; the rest is about the net
const NONE = "nothing";

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
  const sweep = element("select", { id: freshId(), onchange: () => swept(sweep.value) });
  const values = listField("Its values", {
    meaning: "The study is repeated at each value.",
    bounds: () => valueBounds(/** @type {*} */ (sweptOf(store.now))),
    onNumbers: (numbers) => store.change(withValues(store.now, numbers), { thing: "values" }),
    onWrong: (is) => mark("values", is),
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
      labelled("Sweep a parameter", sweep, "One parameter of the op or of a rule, at several values."),
      values.element,
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
  let offered = "";

  /** @param {string} name */
  function swept(name) {
    mark("values", false);
    values.clear();
    store.change(withSweep(store.now, name === NONE ? "" : name));
  }

  /** The parameters there are to sweep. @param {Choice} choice */
  function offer(choice) {
    const names = [NONE, ...trainedControls(choice).map(({ name }) => name)];
    if (names.join() !== offered)
      sweep.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    offered = names.join();
    const chosen = sweptOf(choice)?.name ?? NONE;
    if (sweep.value !== chosen) sweep.value = chosen;
    sweep.disabled = names.length === 1;
  }

  return {
    /** @param {Choice} choice */
    show(choice) {
      rates.show(ratesOf(choice));
      offer(choice);
      setAttribute(values.element, "hidden", !sweptOf(choice));
      values.show(valuesOf(choice));
      if (!sweptOf(choice) && wrong.has("values")) mark("values", false);
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
    /** Forget what was refused. */
    clear() {
      refuse("");
      writeValue(field, displayed);
    },
  };
}

/** @param {number[]} numbers */
function textOf(numbers) {
  return numbers.map(numberText).join(", ");
}
