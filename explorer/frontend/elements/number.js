// A field for an exact number, as people write it; a text that is none, or none that may be chosen, stays in it,
// with a sentence that says so.

import { explainInvalidNumber, parseNumber } from "../formula/numbers.js";
import { element, freshId, setAttribute, setText } from "./dom.js";

/**
 * A number field and its sentence. ``onNumber`` gets a number that was typed, or stepped to by an arrow key (then
 * ``byKeys``); ``next`` is the value a step up (1) or down (-1) from another, ``wrong`` why a typed number may not be
 * chosen, or "".
 * @param {{name: string, class?: string, onNumber: (value: number, byKeys: boolean) => void,
 *   next: (value: number, way: 1|-1) => number, wrong?: (value: number) => string}} options
 */
export function createNumberField({ name, class: kind = "", onNumber, next, wrong = () => "" }) {
  let displayed = "";
  let typing = false; // a typed text is not to be overwritten
  const message = element("small", { class: "refusal", role: "alert", id: freshId() });
  const plain = { autocomplete: "off", autocapitalize: "off", spellcheck: "false" };
  const field = element("input", {
    ...{ type: "text", role: "spinbutton", "aria-label": name, class: kind, ...plain },
    oninput: () => ((typing = true), refuse("")),
    onchange: commit,
    onblur: () => typing && rest(),
    onkeydown: press,
  });

  /** @param {string} sentence "" for none */
  function refuse(sentence) {
    setText(message, sentence);
    setAttribute(field, "aria-invalid", sentence && "true");
    setAttribute(field, "aria-describedby", sentence && message.id);
  }

  function rest() {
    typing = false;
    refuse("");
    field.value = displayed;
  }

  function commit() {
    const value = parseNumber(field.value);
    const reason = value === null ? field.value.trim() && explainInvalidNumber(field.value) : wrong(value);
    typing = false; // from now on it shows what becomes of it, while it still has the focus
    if (reason) return refuse(reason);
    rest();
    if (value !== null) onNumber(value, false);
  }

  /** @param {KeyboardEvent} event */
  function press(event) {
    if (event.key === "Escape") return rest();
    const way = /** @type {Object<string, 1|-1>} */ ({ ArrowUp: 1, ArrowDown: -1 })[event.key];
    const value = parseNumber(field.value);
    if (!way || value === null) return;
    event.preventDefault();
    typing = false;
    onNumber(next(value, way), true);
  }

  return {
    field,
    message,
    /** Show a sentence on the typed text until the text changes. @param {string} sentence "" for none */
    say: (sentence) => setText(message, sentence),
    /**
     * Show a text, but not over one that is being typed; a refused one stays until the text is another.
     * @param {string} text
     */
    show(text) {
      const anew = text !== displayed;
      displayed = text;
      setAttribute(field, "aria-valuenow", parseNumber(text));
      if (!typing && (anew || !message.textContent)) rest();
    },
  };
}
