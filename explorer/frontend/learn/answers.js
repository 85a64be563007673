// The answers to a lesson's question on a teacher's screen, with the number of students who gave each.

import { element, setAttribute, setText } from "../elements/dom.js";
import { countAnswers, describeWays } from "../class/tally.js";

/** @import { Forecast } from "./forecast.js" */

/**
 * Create the list of answers to a lesson's question, for a teacher's screen.
 * @param {Forecast} forecast of the lesson
 */
export function createAnswers(forecast) {
  const rows = forecast.contents().map((content) => {
    const said = element("span", { class: "said" });
    const count = element("b", { class: "count" });
    const bar = element("span", { class: "bar-of", "aria-hidden": "true" });
    return { said, count, bar, item: element("li", {}, element("span", {}, ...content), count, bar, said) };
  });
  const list = element("ol", { class: "answers", "aria-label": "Answers" }, ...rows.map(({ item }) => item));
  const others = element("p", { class: "others", hidden: true });

  return {
    element: element("div", { class: "tally" }, list, others),
    /**
     * Show how many students picked or drew each answer.
     * @param {number[]} counts picks by answer
     * @param {ArrayLike<number>[]} drawings the values of each drawing, in cells of equal width
     */
    show(counts, drawings) {
      const tally = countAnswers(counts, drawings.map(forecast.alike));
      rows.forEach(({ item, said, count, bar }, index) => {
        const row = tally.rows[index];
        setText(count, String(row.all));
        setText(said, describeWays(row, forecast.draws));
        bar.style.setProperty("--share", `${tally.all ? (100 * row.all) / tally.all : 0}%`);
        setAttribute(item, "data-right", index === forecast.right);
      });
      list.classList.add("counted");
      others.hidden = !forecast.draws;
      setText(others, `Another curve: ${tally.others}`);
    },
  };
}
