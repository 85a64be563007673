// The course on paper: a page a lesson with axes to draw on, then a key. The browser prints it.

import { getEntries, isStochastic, getLoss } from "../choice/choice.js";
import { parseMessage } from "../choice/message.js";
import { loadPlotly } from "../chart/plotly/plotly.js";
import { element, setText } from "../elements/dom.js";
import { formatFourDigits } from "../formula/substitution.js";
import { coloured } from "./code.js";
import { createForecast } from "./forecast.js";
import { paperChart } from "./pictures/paper.js";
import { curvesOf } from "./scenes.js";
import { inline } from "./words.js";

/** @import { Choice } from "../choice/choice.js" */
/** @typedef {import("./contents.js").Listed} Listed a lesson */

const LINES = 14; // for a reason; those that find no room are cut off
const FIRST_LETTER = 65; // A
const READY = "Print this page (Ctrl+P, on a Mac ⌘P): one sheet a lesson, to predict on; then the key.";
const nothing = () => undefined;

/**
 * The sheets of lessons, which fill one after the other.
 * @param {Listed[]} lessons
 * @param {{lesson: (key: string) => Promise<*>, plotly: string, back: HTMLElement}} reach ``lesson`` as of the course,
 *   ``plotly`` is the address of plotly.js, ``back`` leads to the list of lessons
 */
export function createSheet(lessons, { lesson, plotly, back }) {
  const said = element("p", { role: "status" });
  const pages = element("div", {});
  const key = element("ol", {});
  let left = false;

  async function fill() {
    const Plotly = await loadPlotly(plotly);
    for (const [index, { key: name, title }] of lessons.entries()) {
      setText(said, `Lesson ${index + 1} of ${lessons.length} is being computed …`);
      const record = await lesson(name);
      if (left) return;
      const number = `Lesson ${index + 1} of ${lessons.length}`;
      if ("message" in record) pages.append(element("p", { role: "alert" }, `${title}: ${record.message}`));
      else await append(Plotly, number, index + 1, record);
    }
    setText(said, READY);
  }

  /** @param {*} Plotly @param {string} number @param {number} value of the item in the key @param {*} record */
  async function append(Plotly, number, value, record) {
    const [{ choice: sent }] = curvesOf(record.scenes);
    const choice = parseMessage(sent);
    const acts = { onTerm: nothing, onCheck: nothing, onSkip: null, onChange: nothing };
    const forecast = createForecast(record.prediction, choice, acts);
    const { answers, right } = record.prediction;
    const rule = answers[right].picture;
    const drawn = (/** @type {string|null} */ shown) =>
      paperChart(Plotly, choice, { rule: shown, leastRange: forecast.leastRange });
    pages.append(pageOf(number, record, choice, forecast, await drawn(null)));
    key.append(solved(value, record.title, answers[right].why, forecast, rule ? [await drawn(rule)] : []));
  }

  const about = element("div", { class: "about" }, element("h2", {}, "The course on paper"), said, back);
  const solutions = element("section", { class: "key" }, element("h2", {}, "Key"), key);
  return {
    element: element("div", { class: "sheet" }, about, pages, solutions),
    begin: fill,
    showLinks: nothing,
    turn: () => false,
    pick: nothing,
    destroy() {
      left = true;
    },
  };
}

/**
 * The page of a lesson: the question, the answers to pick from, lines for a reason, the op, and empty axes.
 * @param {string} number
 * @param {*} record
 * @param {Choice} choice
 * @param {import("./forecast.js").Forecast} forecast
 * @param {HTMLElement} chart
 */
function pageOf(number, { title, question, prediction, excerpt, remember }, choice, forecast, chart) {
  const words = (/** @type {string} */ text) => inline(text, nothing);
  return element(
    "article",
    { class: "page" },
    element("header", {}, element("span", {}, number), element("span", {}, "Name ", element("i", {}))),
    element("h2", {}, title),
    element("p", { class: "question" }, ...words(question)),
    element("p", {}, ...words(prediction.ask)),
    ...(excerpt ? [codeOf(excerpt.lines)] : []),
    ...(forecast.draws ? [] : [answersOf(forecast.contents())]),
    element(
      "div",
      { class: "reason" },
      element("p", {}, "My reason:"),
      ...Array.from({ length: LINES }, () => element("hr", {})),
    ),
    element("figure", {}, chart, element("figcaption", {}, captionOf(choice))),
    element("footer", {}, "What to remember: ", ...words(remember)),
  );
}

/** @param {import("./code.js").Spans[]} lines */
function codeOf(lines) {
  const rows = lines.flatMap((spans) => [...coloured(spans), "\n"]);
  return element("pre", {}, element("code", {}, ...rows.slice(0, -1)));
}

/** @param {(Node|string)[][]} contents */
function answersOf(contents) {
  return element("ol", {}, ...contents.map((content) => element("li", {}, ...content)));
}

/** @param {Choice} choice */
function captionOf(choice) {
  const { op } = getEntries(choice);
  if (!isStochastic(choice))
    return `Above: ${op.label}. Below: draw the gradient for g = ${formatFourDigits(choice.g)}.`;
  const mean = "its mean in a band of one standard deviation";
  return `Above: ${op.label}, ${mean}. Below: draw the gradient of the mean of ${getLoss(choice).text}.`;
}

/**
 * A lesson in the key: the right answer, why, and the curve that was to be drawn.
 * @param {number} value
 * @param {string} title
 * @param {string} why
 * @param {import("./forecast.js").Forecast} forecast
 * @param {HTMLElement[]} chart
 */
function solved(value, title, why, { draws, contents, right }, chart) {
  const answer = draws
    ? ["The curve beside this."]
    : [`${String.fromCharCode(FIRST_LETTER + right)}: `, ...contents()[right]];
  const words = [
    element("b", {}, title),
    element("p", {}, ...answer),
    element("p", {}, ...inline(why, nothing)),
  ];
  return element("li", { value: String(value) }, element("div", {}, ...words), ...chart);
}
