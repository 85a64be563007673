// The form controls of training settings, by kind of setting.

import { element, createId } from "../../elements/dom.js";
import { createNumberField } from "../../elements/number.js";
import { createSlider } from "../../elements/slider.js";
import { clampTo } from "../../formula/numbers.js";
import { getSelectedTask } from "../state/tasks.js";
import { createLearningField } from "./learning-field.js";
import { createListField } from "./list-field.js";

/** @import { Setting } from "../state/tasks.js" */
/**
 * The context of a setting's control. ``onChange``: called with a new text; ``usual``: returns the task's default.
 * @typedef {{onChange: (text: string, phase?: string) => void, usual: () => string, choice: () =>
 *   import("../../choice/choice.js").Choice}} Actions
 * @typedef {{show: (text: string) => void, element: HTMLElement}} Field the control of one setting; ``show`` displays
 *   the text of the setting
 */

const MAX_LAYERS = 4;

/** @type {{[kind in Setting["kind"]]: (setting: Setting, actions: Actions) => Field}} */
const FIELDS = {
  choice: createChoiceField,
  switch: createChoiceField,
  whole: createIntegerField,
  widths: createWidthsField,
  log: createLogField,
  names: createLearningField,
};

/**
 * Create the controls of training settings.
 * @param {Setting[]} settings @param {ReturnType<typeof import("../../choice/store.js").createStore>} store
 * @param {(name: string, text: string, phase: *) => void} onSetting called with the name of a setting and its new text
 */
export function createFields(settings, store, onSetting) {
  const getChoice = () => store.current;
  return settings.map((setting) => {
    const { kind, name, live } = setting;
    const onChange = (/** @type {string} */ text, phase = "settled") => onSetting(name, text, phase);
    const getDefault = () => getSelectedTask(getChoice()).defaults[name];
    return { name, live, field: FIELDS[kind](setting, { onChange, usual: getDefault, choice: getChoice }) };
  });
}

/**
 * Watch for invalid text in fields.
 * @param {HTMLElement[]} hosts elements with fields
 * @param {(name: string) => void} onWrong called with the name of the first field with invalid text, or ""
 */
export function watchInvalid(hosts, onWrong) {
  const watcher = new MutationObserver(() => {
    const fields = hosts.map((host) => host.querySelector("input[aria-invalid]"));
    const field = /** @type {HTMLInputElement|undefined} */ (fields.find(Boolean));
    onWrong(field?.ariaLabel ?? field?.labels?.[0].textContent ?? "");
  });
  for (const host of hosts) watcher.observe(host, { subtree: true, attributeFilter: ["aria-invalid"] });
}

/** @param {Setting} setting @param {Actions} actions @returns {Field} */
function createChoiceField({ label, meaning, words }, { onChange }) {
  const options = Object.entries(words).map(([value, text]) => element("option", { value }, text));
  const list = element("select", { id: createId(), onchange: () => onChange(list.value) }, ...options);
  return {
    element: wrapField(list, label, meaning),
    show(text) {
      if (list.value !== text) list.value = text;
    },
  };
}

/**
 * Return a field with its label above it.
 * @param {HTMLElement} field @param {string} label @param {string} meaning the tooltip
 * @param {...Node} more elements below it, such as a message
 */
export function wrapField(field, label, meaning, ...more) {
  return element(
    "div",
    { class: "setting", title: meaning },
    element("label", { for: field.id }, label),
    field,
    ...more,
  );
}

/** @param {Setting} setting @param {Actions} actions @returns {Field} */
function createIntegerField({ label, meaning, low, high }, { onChange }) {
  const clamp = (/** @type {number} */ value) => clampTo(Math.round(value), low, high);
  const number = createNumberField({
    name: label,
    onNumber(value) {
      const text = String(clamp(value));
      number.show(text);
      number.say(clamp(value) === value ? "" : `A whole number from ${low} to ${high}: ${text} is taken.`);
      onChange(text);
    },
    next: (value, way) => clamp(value + way),
  });
  number.field.id = createId();
  return {
    element: wrapField(number.field, label, `${meaning} From ${low} to ${high}.`, number.message),
    show: number.show,
  };
}

/** @param {Setting} setting @param {Actions} actions @returns {Field} */
function createWidthsField({ label, meaning, low, high }, { onChange }) {
  const { field, error, show } = createListField({
    read: (text) => readWidths(text, low, high),
    onNumbers: (widths) => onChange(widths.join()),
  });
  const title = `${meaning} Up to ${MAX_LAYERS} layers, each from ${low} to ${high}.`;
  return {
    element: wrapField(field, label, title, error),
    show: (text) => show(text.split(",").map(Number)),
  };
}

/**
 * Parse layer widths such as "64, 32".
 * @param {string} text @param {number} low the minimum @param {number} high the maximum
 */
function readWidths(text, low, high) {
  const numbers = text
    .split(/[\s,;×-]+/)
    .filter(Boolean)
    .map(Number);
  const fit = numbers.every((width) => Number.isInteger(width) && low <= width && width <= high);
  const isValid = fit && 1 <= numbers.length && numbers.length <= MAX_LAYERS;
  const sentence = isValid ? "" : `1 to ${MAX_LAYERS} widths from ${low} to ${high}, such as 16, 16.`;
  return { numbers, sentence };
}

/**
 * Create a logarithmic slider. A check box for a value in words, such as "full", is next to it if the setting has one.
 * @param {Setting} setting @param {Actions} actions @returns {Field}
 */
function createLogField({ label, meaning, low, high, words }, { onChange, usual }) {
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
      ...(word ? [element("label", { class: "flex-row" }, box, words[word])] : []),
    ),
    show(text) {
      box.checked = text === word;
      slider.update(text === word ? high : Number(text), ends, true, ends);
    },
  };
}
