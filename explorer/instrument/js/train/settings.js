// The settings of a run as native controls: learning rate and pace by the chart, the rest by the cards.

import { element, freshId, setText, setValue, writeValue } from "../elements/dom.js";
import { catalogue } from "../choice/entries.js";
import { typedNumber, within } from "../formula/numbers.js";
import { createSlider } from "../elements/slider.js";

/** @typedef {import("../choice/choice.js").Choice} Choice */
/**
 * One setting, as the server declares it. ``words`` are labels by what it may be beside a number.
 * @typedef {{name: string, kind: "choice"|"whole"|"log", label: string, meaning: string, low: number,
 *   high: number, live: boolean, default: string, words: Object<string, string>,
 *   purposes: Object<string, string>}} Setting
 * @typedef {{show: (text: string) => void, element: HTMLElement}} Field
 */

/** What a setting is in a choice, as a link writes it. @param {Choice} choice @param {Setting} setting */
function textOf(choice, setting) {
  return choice.training[setting.name] ?? setting.default;
}

/** @param {Choice} choice @param {string} name @returns {string} */
export function settingText(choice, name) {
  return textOf(
    choice,
    catalogue().settings.find((/** @type {Setting} */ setting) => setting.name === name),
  );
}

/** @param {Choice} choice @param {Setting} setting @param {string} text @returns {Choice} */
function withSetting(choice, setting, text) {
  const { [setting.name]: _, ...others } = choice.training;
  const usual = text === setting.default || Number(text) === Number(setting.default);
  return { ...choice, training: usual ? others : { ...others, [setting.name]: text } };
}

/**
 * The controls of all settings: those that may change in mid-run in ``live``, the others in ``rest``.
 * @param {{live: HTMLElement, rest: HTMLElement}} hosts
 * @param {ReturnType<typeof import("../choice/store.js").createStore>} store
 */
export function createSettings({ live, rest }, store) {
  /** @type {Setting[]} */
  const settings = catalogue().settings;
  const fields = settings.map((setting) => {
    const onChange = (/** @type {string} */ text, phase = "settled") =>
      store.change(withSetting(/** @type {Choice} */ (store.choice), setting, text), {
        phase: /** @type {*} */ (phase),
        thing: setting.name,
      });
    const field = { choice: choiceField, whole: wholeField, log: logField }[setting.kind](setting, onChange);
    (setting.live ? live : rest).append(field.element);
    return field;
  });
  return {
    /** @param {Choice} choice */
    show: (choice) => settings.forEach((setting, place) => fields[place].show(textOf(choice, setting))),
  };
}

/** @param {Setting} setting @param {(text: string) => void} onChange @returns {Field} */
function choiceField({ label, words, purposes }, onChange) {
  const options = Object.entries(words).map(([value, text]) => element("option", { value }, text));
  const list = element("select", { id: freshId(), onchange: () => onChange(list.value) }, ...options);
  const purpose = element("small", {});
  return {
    element: element(
      "div",
      { class: "setting wide" },
      element("label", { for: list.id }, label),
      list,
      purpose,
    ),
    show(text) {
      list.value = text;
      setText(purpose, purposes[text] ?? "");
    },
  };
}

/** @param {Setting} setting @param {(text: string) => void} onChange @returns {Field} */
function wholeField({ label, meaning, low, high, default: usual }, onChange) {
  const field = element("input", {
    type: "number",
    id: freshId(),
    min: low,
    max: high,
    step: 1,
    onchange: typed,
  });
  let shown = usual;
  function typed() {
    const value = typedNumber(field.value);
    const text = value === null ? shown : String(within(Math.round(value), low, high));
    writeValue(field, text);
    if (text !== shown) onChange(text);
  }
  return {
    element: element(
      "div",
      { class: "setting", title: `${meaning} From ${low} to ${high}.` },
      element("label", { for: field.id }, label),
      field,
    ),
    show(text) {
      shown = text;
      setValue(field, text);
    },
  };
}

/** A slider of decades; a word, as "full", is a box to tick beside it. @param {Setting} setting @param {(text: string, phase: string) => void} onChange @returns {Field} */
function logField({ label, meaning, low, high, default: usual, words }, onChange) {
  const ends = /** @type {[number, number]} */ ([low, high]);
  const slider = createSlider({
    name: label,
    onChange: (value, phase) => onChange(String(within(value, low, high)), phase),
  });
  const [word] = Object.keys(words);
  const box = element("input", {
    type: "checkbox",
    onchange: () => onChange(box.checked ? word : usual, "settled"),
  });
  slider.element.title = meaning;
  return {
    element: word
      ? element("div", { class: "with-word" }, slider.element, element("label", {}, box, words[word]))
      : slider.element,
    show(text) {
      box.checked = text === word;
      slider.update(text === word ? high : Number(text), ends, true);
    },
  };
}
