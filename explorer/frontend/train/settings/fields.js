// One native control for each kind of setting.

import { element, freshId, setAttribute, setText, setValue, writeValue } from "../../elements/dom.js";
import { createNumberField } from "../../elements/number.js";
import { createSlider } from "../../elements/slider.js";
import { clampTo } from "../../formula/numbers.js";
import { taskOf } from "../state/tasks.js";
import { learningField } from "./learning-field.js";

/** @import { Setting } from "../state/tasks.js" */
/**
 * The actions of a control: ``onChange`` gets another text of its setting; ``usual`` is that of the task.
 * @typedef {{onChange: (text: string, phase?: string) => void, usual: () => string,
 *   choice: () => import("../../choice/choice.js").Choice}} Actions
 * @typedef {{show: (text: string) => void, element: HTMLElement}} Field
 */

const MOST_LAYERS = 4;

/** @type {{[kind in Setting["kind"]]: (setting: Setting, actions: Actions) => Field}} */
const FIELDS = {
  choice: choiceField,
  switch: choiceField,
  whole: wholeField,
  widths: widthsField,
  log: logField,
  names: learningField,
};

/**
 * The fields of some settings; ``onSetting`` gets another text of one.
 * @param {Setting[]} settings
 * @param {ReturnType<typeof import("../../choice/store.js").createStore>} store
 * @param {(name: string, text: string, phase: *) => void} onSetting
 */
export function createFields(settings, store, onSetting) {
  const choice = () => store.current;
  return settings.map((setting) => {
    const { kind, name, live } = setting;
    const onChange = (/** @type {string} */ text, phase = "settled") => onSetting(name, text, phase);
    const usual = () => taskOf(choice()).defaults[name];
    return { name, live, field: FIELDS[kind](setting, { onChange, usual, choice }) };
  });
}

/** @param {Setting} setting @param {Actions} actions @returns {Field} */
function choiceField({ label, meaning, words }, { onChange }) {
  const options = Object.entries(words).map(([value, text]) => element("option", { value }, text));
  const list = element("select", { id: freshId(), onchange: () => onChange(list.value) }, ...options);
  return {
    element: labelled(list, label, meaning),
    show(text) {
      if (list.value !== text) list.value = text;
    },
  };
}

/** @param {HTMLElement} field @param {string} label @param {string} meaning @param {...Node} more */
function labelled(field, label, meaning, ...more) {
  return element(
    "div",
    { class: "setting", title: meaning },
    element("label", { for: field.id }, label),
    field,
    ...more,
  );
}

/** @param {Setting} setting @param {Actions} actions @returns {Field} */
function wholeField({ label, meaning, low, high }, { onChange }) {
  const held = (/** @type {number} */ value) => clampTo(Math.round(value), low, high);
  const number = createNumberField({
    name: label,
    onNumber(value) {
      const text = String(held(value));
      number.show(text);
      number.say(held(value) === value ? "" : `A whole number from ${low} to ${high}: ${text} is taken.`);
      onChange(text);
    },
    next: (value, way) => held(value + way),
  });
  number.field.id = freshId();
  return {
    element: labelled(number.field, label, `${meaning} From ${low} to ${high}.`, number.message),
    show: number.show,
  };
}

/**
 * Widths of hidden layers, one after the other.
 * @param {Setting} setting
 * @param {Actions} actions
 * @returns {Field}
 */
function widthsField({ label, meaning, low, high }, { onChange }) {
  const id = freshId();
  const mistake = element("small", { id, class: "refusal", role: "alert" });
  const typed = () => {
    const widths = widthsOf(field.value, low, high);
    setAttribute(field, "aria-invalid", widths ? null : "true");
    setText(mistake, widths ? "" : `1 to ${MOST_LAYERS} widths from ${low} to ${high}, such as 16, 16.`);
    if (!widths) return;
    writeValue(field, widths.join(", "));
    if (widths.join() !== displayed) onChange(widths.join());
  };
  const field = element("input", {
    id: freshId(),
    inputmode: "text",
    "aria-describedby": id,
    onchange: typed,
  });
  let displayed = "";
  return {
    element: labelled(
      field,
      label,
      `${meaning} Up to ${MOST_LAYERS} layers, each from ${low} to ${high}.`,
      mistake,
    ),
    show(text) {
      displayed = text;
      if (!field.matches("[aria-invalid]")) setValue(field, text.split(",").join(", "));
    },
  };
}

/**
 * Typed text as widths; null where it is not.
 * @param {string} text
 * @param {number} low
 * @param {number} high
 */
function widthsOf(text, low, high) {
  const widths = text
    .split(/[\s,;×-]+/)
    .filter(Boolean)
    .map(Number);
  const fit = widths.every((width) => Number.isInteger(width) && low <= width && width <= high);
  return fit && 1 <= widths.length && widths.length <= MOST_LAYERS ? widths : null;
}

/**
 * A slider of decades; a word, as "full", is a box to tick beside it.
 * @param {Setting} setting
 * @param {Actions} actions
 * @returns {Field}
 */
function logField({ label, meaning, low, high, words }, { onChange, usual }) {
  const ends = /** @type {[number, number]} */ ([low, high]);
  const slider = createSlider({
    name: label,
    onChange: (value, phase) => onChange(String(clampTo(value, low, high)), phase),
  });
  const [word] = Object.keys(words);
  const box = element("input", { type: "checkbox", onchange: () => onChange(box.checked ? word : usual()) });
  slider.element.title = meaning;
  return {
    element: element(
      "div",
      { class: word ? "wide with-word" : "wide" },
      slider.element,
      ...(word ? [element("label", {}, box, words[word])] : []),
    ),
    show(text) {
      box.checked = text === word;
      slider.update(text === word ? high : Number(text), ends, true, ends);
    },
  };
}
