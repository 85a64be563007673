// The settings of a run as native controls: learning rate and pace by the chart, the rest by the cards.

import { element, freshId, setText, setValue, writeValue } from "../elements/dom.js";
import { catalogue } from "../choice/entries.js";
import { typedNumber, within } from "../formula/numbers.js";
import { createSlider } from "../elements/slider.js";

const MOST_LAYERS = 4;

/** @typedef {import("../choice/choice.js").Choice} Choice */
/**
 * One setting, as the server declares it. ``words`` are labels by what it may be beside a number.
 * @typedef {{name: string, kind: "choice"|"whole"|"widths"|"log"|"switch", label: string, meaning: string,
 *   low: number, high: number, live: boolean, words: Object<string, string>}} Setting
 * One task: ``defaults`` hold the text of every other setting.
 * @typedef {{key: string, label: string, purpose: string, defaults: Object<string, string>}} Task
 * @typedef {{show: (text: string) => void, element: HTMLElement}} Field
 */

/** What a setting is in a choice, as a link writes it. @param {Choice} choice @param {Setting} setting */
function textOf(choice, setting) {
  return choice.training[setting.name] ?? usualText(choice, setting);
}

/** The task of a choice; without one the two-layer net of the documents is meant. @param {Choice} choice @returns {Task} */
function taskOf(choice) {
  const { tasks, usualTask } = catalogue();
  return tasks.find((/** @type {Task} */ task) => task.key === (choice.training.task ?? usualTask));
}

/** What a setting is where nothing is chosen. @param {Choice} choice @param {Setting} setting */
function usualText(choice, { name }) {
  return name === "task" ? catalogue().usualTask : taskOf(choice).defaults[name];
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
  const standard = usualText(choice, setting);
  const usual = text === standard || Number(text) === Number(standard);
  if (setting.name === "task") return { ...choice, training: usual ? {} : { task: text } };
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
    const field = FIELDS[setting.kind](setting, onChange);
    (setting.live ? live : rest).append(field.element);
    return field;
  });
  return {
    /** @param {Choice} choice */
    show: (choice) => settings.forEach((setting, place) => fields[place].show(textOf(choice, setting))),
  };
}

/** @param {Setting} setting @param {(text: string) => void} onChange @returns {Field} */
function choiceField({ label, words }, onChange) {
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
      setText(
        purpose,
        catalogue().tasks.find((/** @type {Task} */ task) => task.key === text)?.purpose ?? "",
      );
    },
  };
}

/** @param {Setting} setting @param {(text: string) => void} onChange @returns {Field} */
function wholeField({ label, meaning, low, high }, onChange) {
  const field = element("input", {
    type: "number",
    id: freshId(),
    min: low,
    max: high,
    step: 1,
    onchange: typed,
  });
  let shown = "";
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

/** One width or several, such as 16,16,16. @param {Setting} setting @param {(text: string) => void} onChange @returns {Field} */
function widthsField({ label, meaning, low, high }, onChange) {
  const field = element("input", { type: "text", inputmode: "numeric", id: freshId(), onchange: typed });
  let shown = "";
  function typed() {
    const widths = field.value.split(",").map((/** @type {string} */ part) => typedNumber(part));
    const known = widths.length <= MOST_LAYERS && !widths.includes(null);
    const text = widths
      .map((/** @type {number} */ width) => within(Math.round(Number(width)), low, high))
      .join(",");
    writeValue(field, known ? text : shown);
    if (known && text !== shown) onChange(text);
  }
  return {
    element: element(
      "div",
      { class: "setting", title: meaning },
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
function logField({ label, meaning, low, high, words }, onChange) {
  let shown = String(low);
  const ends = /** @type {[number, number]} */ ([low, high]);
  const slider = createSlider({
    name: label,
    onChange: (value, phase) => onChange(String(within(value, low, high)), phase),
  });
  const [word] = Object.keys(words);
  const box = element("input", {
    type: "checkbox",
    onchange: () => onChange(box.checked ? word : shown, "settled"),
  });
  slider.element.title = meaning;
  return {
    element: word
      ? element("div", { class: "with-word" }, slider.element, element("label", {}, box, words[word]))
      : slider.element,
    show(text) {
      box.checked = text === word;
      if (text !== word) shown = text;
      slider.update(text === word ? high : Number(text), ends, true);
    },
  };
}

const FIELDS = {
  choice: choiceField,
  switch: choiceField,
  whole: wholeField,
  widths: widthsField,
  log: logField,
};
