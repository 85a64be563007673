// A menu of examples, which replace the page's settings.

import { toQuery } from "../choice/address.js";
import { getCatalogue } from "../choice/entries.js";
import { prepareTraining } from "../choice/learning-panel.js";
import { requestTraining } from "../choice/session.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { createMenu } from "../elements/menu.js";

/** @import { Choice } from "../choice/choice.js" */

/**
 * An example of the menu. ``train``: text of a link that trains it, or ""; ``table``: the data of a task that needs a
 * table; ``source``: where its claim comes from, or ""; ``lesson``: the lesson that explains it, or null.
 * @typedef {{name: string, hint: string, train: string, table: string, source: string, lesson: {key: string, title:
 *   string}|null, choice: Choice}} Example
 */

/**
 * Create a menu of examples, with a hint about the displayed one: its op and rules are those of the page, and
 * ``isSame`` holds.
 * @param {Example[]} examples
 * @param {(choice: Choice, table: string) => void} onChoose called with the settings and the table of an example
 * @param {(example: Example, choice: Choice) => boolean} [isSame]
 * @param {(choice: Choice) => string} [trainWords] returns the text of the link that trains other settings, or ""
 */
export function createExamples(examples, onChoose, isSame = () => true, trainWords = () => "") {
  const items = examples.map(({ name, hint, source, table, choice }) => {
    const choose = () => {
      menu.open = false;
      onChoose(choice, table);
    };
    const words = source ? `${hint} Source: ${source}` : hint;
    return element("button", { onclick: choose }, element("b", {}, name), element("small", {}, words));
  });
  const menu = createMenu("Examples", ...items);
  const hint = element("p", { class: "hint text-small", role: "status" });
  const source = element("small", {});
  let isTraining = false; // whether the link after the hint leads to training or to a lesson
  const nextLink = element("a", {
    class: "then primary",
    onclick({ ctrlKey, metaKey, shiftKey }) {
      if (isTraining && !ctrlKey && !metaKey && !shiftKey) requestTraining(); // unless it opens in a new tab
    },
  });
  menu.hidden = !examples.length;

  return {
    element: element("div", { class: "examples flex-row" }, menu, element("div", {}, hint, source, nextLink)),
    /**
     * Show the hint of the example that the page displays, which is about a training run. If there is no such example
     * or nothing has ``begun``, show ``otherwise``.
     * @param {Choice} choice @param {string} [otherwise] @param {boolean} [begun] @returns whether there is a hint
     */
    show(choice, otherwise = "", begun = true) {
      const example = examples.find((each) => hasSameEntries(each.choice, choice) && isSame(each, choice));
      const text = (begun ? example?.hint : "") || otherwise;
      setText(hint, text);
      setText(source, example?.source ? `Source: ${example.source}` : "");
      const { words, address } = getNext(choice, example, trainWords(choice));
      isTraining = !example?.lesson;
      setText(nextLink, words);
      nextLink.classList.toggle("of-no-example", !example);
      setAttribute(nextLink, "href", address);
      setAttribute(hint, "title", text);
      return text !== "";
    },
  };
}

/** @param {Choice} choice @param {Example|undefined} example @param {string} otherwise */
function getNext(choice, example, otherwise) {
  const { lesson, train } = example ?? { lesson: null, train: "" };
  if (!lesson && !train && !otherwise) return { words: "", address: null };
  const { link, firstTask } = getCatalogue();
  const training = { task: firstTask, ...choice.training }; // a task in which the rules differ
  const query = toQuery(prepareTraining({ ...choice, training }));
  return lesson
    ? { words: `Lesson: ${lesson.title}`, address: `${link.pages.learn}?lesson=${lesson.key}` }
    : { words: train || otherwise, address: `${link.pages.train}?${query}` };
}

/** @param {Choice} one @param {Choice} other */
function hasSameEntries(one, other) {
  const joinKeys = (/** @type {Choice} */ choice) =>
    [choice.op, ...choice.rules.map((rule) => rule.key)].join("\n");
  return joinKeys(one) === joinKeys(other);
}
