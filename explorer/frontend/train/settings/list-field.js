// A text field for several numbers. Invalid text stays in it, with a message below.

import { element, createId, setAttribute, setText, setValue, writeValue } from "../../elements/dom.js";
import { formatNumber } from "../../formula/numbers.js";

/** The numbers in a text, or a sentence on why it is invalid. @typedef {{numbers: number[], sentence: string}} List */

/**
 * Create a text field for several numbers, and the element for a message about invalid text.
 * @param {{read: (text: string) => List, onNumbers: (numbers: number[]) => void}} actions ``onNumbers``: called with
 *   valid numbers
 */
export function createListField({ read, onNumbers }) {
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
    setAttribute(field, "aria-invalid", sentence ? "true" : null);
  }

  function acceptInput() {
    const { numbers, sentence } = read(field.value);
    refuse(sentence);
    if (sentence) return;
    writeValue(field, textOf(numbers));
    if (textOf(numbers) !== displayed) onNumbers(numbers);
  }

  return {
    field,
    error,
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
