// The answers of a lesson on the screen of a class, and how many gave each once they are revealed.

import { element, setAttribute, setText } from "../elements/dom.js";
import { tallyOf, waysOf } from "../class/tally.js";

/** @import { Forecast } from "./forecast.js" */

/**
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
     * @param {number[]} counts how often each was picked
     * @param {ArrayLike<number>[]} drawings the values of each, in cells of one width
     */
    show(counts, drawings) {
      const tally = tallyOf(counts, drawings.map(forecast.alike));
      rows.forEach(({ item, said, count, bar }, index) => {
        const row = tally.rows[index];
        setText(count, String(row.all));
        setText(said, waysOf(row, forecast.draws));
        bar.style.setProperty("--share", `${tally.all ? (100 * row.all) / tally.all : 0}%`);
        setAttribute(item, "data-right", index === forecast.right);
      });
      list.classList.add("counted");
      others.hidden = !forecast.draws;
      setText(others, `Another curve: ${tally.others}`);
    },
  };
}
