// Examples to start from.

import { toQuery } from "../choice/address.js";
import { getCatalogue } from "../choice/entries.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { createMenu } from "../elements/menu.js";

/** @import { Choice } from "../choice/choice.js" */

/**
 * ``train`` are the words of a link that trains it, "" for none; ``table`` is the data of a task that needs
 * a table; ``source`` is the source of its claim, "" for none; ``lesson`` is one that says why.
 * @typedef {{name: string, hint: string, train: string, table: string, source: string,
 *   lesson: {key: string, title: string}|null, choice: Choice}} Example
 */

/**
 * A menu of examples, and beside it what to try with the one that is shown: it has the op, the rules and
 * whatever else ``isSame`` compares, so that its hint is true of what is shown.
 * @param {Example[]} examples
 * @param {(choice: Choice, table: string) => void} onChoose
 * @param {(example: Example, choice: Choice) => boolean} [isSame]
 * @param {(choice: Choice) => string} [trainWords] of a link that trains what is no example
 */
export function createExamples(examples, onChoose, isSame = () => true, trainWords = () => "") {
  const items = examples.map(({ name, hint, table, choice }) => {
    const choose = () => {
      menu.open = false;
      onChoose(choice, table);
    };
    return element("button", { onclick: choose }, element("b", {}, name), element("small", {}, hint));
  });
  const menu = createMenu("Examples", ...items);
  const hint = element("p", { class: "hint", role: "status" });
  const source = element("small", {});
  const then = element("a", { class: "then" });
  menu.hidden = !examples.length;
  return {
    element: element("div", { class: "examples" }, menu, element("div", {}, hint, source, then)),
    /**
     * Show the hint of the present example; ``otherwise`` if the choice is none.
     * @param {Choice} choice
     * @param {string} [otherwise]
     * @returns whether there is a hint
     */
    show(choice, otherwise = "") {
      const example = examples.find((each) => sameEntries(each.choice, choice) && isSame(each, choice));
      const said = example?.hint ?? otherwise;
      setText(hint, said);
      setText(source, example?.source ? `Source: ${example.source}` : "");
      const { words, address } = nextOf(choice, example, trainWords(choice));
      setText(then, words);
      then.classList.toggle("of-no-example", !example);
      setAttribute(then, "href", address);
      setAttribute(hint, "title", said);
      return said !== "";
    },
  };
}

/** The link that follows from an example, else that in ``otherwise``. @param {Choice} choice @param {Example|undefined} example @param {string} otherwise */
function nextOf(choice, example, otherwise) {
  const { lesson, train } = example ?? { lesson: null, train: "" };
  if (!lesson && !train && !otherwise) return { words: "", address: null };
  const { pages } = getCatalogue().link;
  return lesson
    ? { words: `Lesson: ${lesson.title}`, address: `${pages.learn}?lesson=${lesson.key}` }
    : { words: train || otherwise, address: `${pages.train}?${toQuery(trained(choice))}` };
}

/** The choice on the task that shows what rules do. @param {Choice} choice @returns {Choice} */
function trained(choice) {
  return { ...choice, training: { task: getCatalogue().firstTask, ...choice.training } };
}

/** @param {Choice} one @param {Choice} other */
function sameEntries(one, other) {
  const keys = (/** @type {Choice} */ choice) =>
    [choice.op, ...choice.rules.map((rule) => rule.key)].join("\n");
  return keys(one) === keys(other);
}
