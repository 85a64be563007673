// An input field for an exact number. Invalid text stays in the field, with a message.

import { explainInvalidNumber, parseNumber } from "../formula/numbers.js";
import { element, createId, setAttribute, setText } from "./dom.js";

/**
 * Create an input field for a number, with a message about invalid text.
 * @param {{name: string, class?: string, onNumber: (value: number, byKeys: boolean) => void, next: (value: number, way:
 *   1|-1) => number, wrong?: (value: number) => string}} options ``onNumber``: called with each valid number, and with
 *   whether an arrow key has set it; ``next``: returns the value one step up (1) or down (-1); ``wrong``: returns why a
 *   number is not allowed, or ""
 */
export function createNumberField({ name, class: kind = "", onNumber, next, wrong = () => "" }) {
  let displayed = "";
  let typing = false; // whether the user is typing, so that the text must not be replaced
  const message = element("small", { class: "refusal", role: "alert", id: createId() });
  const plain = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const field = element("input", {
    ...{ type: "text", role: "spinbutton", "aria-label": name, class: kind, ...plain },
    oninput() {
      typing = true;
      refuse("");
    },
    onchange: commit,
    onblur: () => typing && reset(),
    onkeydown: press,
  });

  /** @param {string} sentence the message, or "" */
  function refuse(sentence) {
    setText(message, sentence);
    setAttribute(field, "aria-invalid", sentence ? "true" : null);
    setAttribute(field, "aria-describedby", sentence && message.id);
  }

  function reset() {
    typing = false;
    refuse("");
    field.value = displayed;
  }

  function commit() {
    const value = parseNumber(field.value);
    const reason = value === null ? field.value.trim() && explainInvalidNumber(field.value) : wrong(value);
    typing = false; // the field still has the focus, but ``show`` may replace its text again
    if (reason) return refuse(reason);
    reset();
    if (value !== null) onNumber(value, false);
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.key === "Escape") return reset();
    const way = /** @type {Object<string, 1|-1>} */ ({ ArrowUp: 1, ArrowDown: -1 })[event.key];
    const value = parseNumber(field.value);
    if (!way || value === null || wrong(value)) return;
    event.preventDefault();
    typing = false;
    onNumber(next(value, way), true);
  }

  return {
    field,
    message,
    /** Show a message below the field until its text changes. @param {string} sentence the message, or "" */
    say: (sentence) => setText(message, sentence),
    /**
     * Set the text of the field unless the user is typing. An invalid text stays until ``text`` changes.
     * @param {string} text
     */
    show(text) {
      const anew = text !== displayed;
      displayed = text;
      setAttribute(field, "aria-valuenow", parseNumber(text));
      if (!typing && (anew || !message.textContent)) reset();
    },
  };
}
