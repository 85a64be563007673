// The form with a study's settings: learning rates, seeds, controls and the net.

import { getCatalogue } from "../choice/entries.js";
import { element, createId, setText } from "../elements/dom.js";
import { createFields, watchInvalid, wrapField } from "../train/settings/fields.js";
import { createListField } from "../train/settings/list-field.js";
import { getSetting, withSetting } from "../train/state/tasks.js";
import { readList } from "./lists.js";
import * as settings from "./settings.js";

/** @import { Choice } from "../choice/choice.js" */

const FIRST = ["seeds", "steps"]; // settings that are always visible; the others are folded away

/**
 * Create the form of a study's settings.
 * @param {HTMLElement} host @param {ReturnType<typeof import("../choice/store.js").createStore>} store
 * @param {(name: string) => void} onWrong called with the name of a field with invalid text, or ""
 */
export function createSetup(host, store, onWrong) {
  const { low, high, rates: most } = getCatalogue().limits.study;
  const bounds = { what: "rate", low, high, most, example: "0.003, 0.01, 0.03" };
  const rates = createListField({
    read: (text) => readList(text, bounds),
    onNumbers: (numbers) =>
      store.change(withSetting(store.current, "rates", numbers.join(",")), { target: "rates" }),
  });
  const meaning = "Each rule is trained at each rate and judged at its own best one.";
  const ratesField = wrapField(rates.field, "Rates lr", meaning, rates.error);
  ratesField.classList.add("wide");
  const box = element("input", {
    type: "checkbox",
    onchange: () => store.change(withSetting(store.current, "controls", box.checked ? "" : "no")),
  });
  const unscaled = element("small", { id: createId(), class: "wide unscaled" });
  const equal = element("input", {
    type: "checkbox",
    "aria-describedby": unscaled.id,
    onchange: () => store.change(withSetting(store.current, "equal", equal.checked ? "yes" : "")),
  });
  const fields = createFields(settings.getSharedSettings(), store, (name, text, phase) =>
    store.change(withSetting(store.current, name, text), { phase, target: name }),
  );
  const [first, rest] = [true, false].map((is) => fields.filter(({ name }) => FIRST.includes(name) === is));
  host.append(
    element(
      "div",
      { class: "settings" },
      ratesField,
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
  watchInvalid([host], onWrong);
  return {
    /** @param {Choice} choice */
    show(choice) {
      rates.show(settings.getStudyRates(choice));
      box.checked = settings.hasControls(choice);
      const reason = settings.explainUnscalable(choice);
      equal.checked = settings.hasEqualFooting(choice);
      // disabled only if unchecked, so that a link's setting can be undone
      equal.disabled = reason !== "" && !equal.checked;
      setText(unscaled, reason);
      for (const { name, field } of fields) field.show(getSetting(choice, name));
    },
  };
}
