// The course for printing: a page for each lesson, with axes to draw on, then the solutions.

import { getEntries, isStochastic, getLoss } from "../choice/choice.js";
import { parseMessage } from "../choice/message.js";
import { loadPlotly } from "../chart/plotly/plotly.js";
import { element, setText } from "../elements/dom.js";
import { formatFourDigits } from "../formula/substitution.js";
import { renderSpans } from "./code.js";
import { createForecast } from "./forecast.js";
import { drawPaperChart } from "./pictures/paper.js";
import { getCurveScenes } from "./scenes.js";
import { renderInline } from "./words.js";

/** @import { Choice } from "../choice/choice.js" */
/** @typedef {import("./contents.js").Listed} Listed a lesson */

const LINES = 14; // for the reader's reason; lines beyond the page are cut off
const FIRST_LETTER = 65; // A
const READY = "Print this page (Ctrl+P, on a Mac ⌘P): one sheet a lesson, to predict on; then the key.";
const doNothing = () => undefined;

/**
 * Create the printed course. Lessons are loaded one after the other.
 * @param {Listed[]} lessons
 * @param {{lesson: (key: string) => Promise<*>, plotly: string, back: HTMLElement}} reach ``lesson``: loads a lesson,
 *   or resolves to a message; ``plotly``: the address of its script; ``back``: a link to the table of contents
 */
export function createSheet(lessons, { lesson, plotly, back }) {
  const status = element("p", { role: "status" });
  const pages = element("div", {});
  const key = element("ol", {});
  let isLeft = false;

  async function fill() {
    const Plotly = await loadPlotly(plotly);
    for (const [index, { key: name, title }] of lessons.entries()) {
      setText(status, `Lesson ${index + 1} of ${lessons.length} is being computed …`);
      const record = await lesson(name);
      if (isLeft) return;
      const number = `Lesson ${index + 1} of ${lessons.length}`;
      if ("message" in record) pages.append(element("p", { role: "alert" }, `${title}: ${record.message}`));
      else await append(Plotly, number, index + 1, record);
    }
    setText(status, READY);
  }

  /**
   * Append the printed page of a lesson, and its solution at the end.
   * @param {*} Plotly @param {string} number @param {number} value its number in the list of solutions
   * @param {*} record the lesson's data
   */
  async function append(Plotly, number, value, record) {
    const [{ choice: message }] = getCurveScenes(record.scenes);
    const choice = parseMessage(message);
    const acts = { onTerm: doNothing, onCheck: doNothing, onSkip: null, onChange: doNothing };
    const forecast = createForecast(record.prediction, choice, acts);
    const { answers, right } = record.prediction;
    const rule = answers[right].picture;
    const drawChart = (/** @type {string|null} */ shown) =>
      drawPaperChart(Plotly, choice, { rule: shown, leastRange: forecast.leastRange });
    pages.append(createPrintedPage(number, record, choice, forecast, await drawChart(null)));
    key.append(
      createSolution(value, record.title, answers[right].why, forecast, rule ? [await drawChart(rule)] : []),
    );
  }

  const intro = element("div", { class: "about" }, element("h2", {}, "The course on paper"), status, back);
  const solutions = element("section", { class: "key" }, element("h2", {}, "Key"), key);
  return {
    element: element("div", { class: "sheet" }, intro, pages, solutions),
    begin: fill,
    showLinks: doNothing,
    turn: () => false,
    pick: doNothing,
    destroy() {
      isLeft = true;
    },
  };
}

/**
 * @param {string} number @param {*} record @param {Choice} choice @param {import("./forecast.js").Forecast} forecast
 * @param {HTMLElement} chart
 */
function createPrintedPage(number, record, choice, forecast, chart) {
  const { title, question, prediction, excerpt, remember } = record;
  const render = (/** @type {string} */ text) => renderInline(text, doNothing);
  const code = excerpt?.lines
    .flatMap((/** @type {import("./code.js").Spans} */ line) => [...renderSpans(line), "\n"])
    .slice(0, -1);
  const answers = forecast.contents().map((content) => element("li", {}, ...content));
  return element(
    "article",
    { class: "page" },
    element("header", {}, element("span", {}, number), element("span", {}, "Name ", element("i", {}))),
    element("h2", {}, title),
    element("p", { class: "question" }, ...render(question)),
    element("p", {}, ...render(prediction.ask)),
    ...(excerpt ? [element("pre", {}, element("code", {}, ...code))] : []),
    ...(forecast.draws ? [] : [element("ol", {}, ...answers)]),
    element(
      "div",
      { class: "reason" },
      element("p", {}, "My reason:"),
      ...Array.from({ length: LINES }, () => element("hr", {})),
    ),
    element("figure", {}, chart, element("figcaption", {}, makeAxesCaption(choice))),
    element("footer", {}, "What to remember: ", ...render(remember)),
  );
}

/** @param {Choice} choice */
function makeAxesCaption(choice) {
  const { op } = getEntries(choice);
  if (!isStochastic(choice))
    return `Above: ${op.label}. Below: draw the gradient for g = ${formatFourDigits(choice.g)}.`;
  const mean = "its mean in a band of one standard deviation";
  return `Above: ${op.label}, ${mean}. Below: draw the gradient of the mean of ${getLoss(choice).text}.`;
}

/**
 * @param {number} value its number in the list @param {string} title @param {string} why
 * @param {import("./forecast.js").Forecast} forecast @param {HTMLElement[]} chart
 */
function createSolution(value, title, why, { draws, contents, right }, chart) {
  const answer = draws
    ? ["The curve beside this."]
    : [`${String.fromCharCode(FIRST_LETTER + right)}: `, ...contents()[right]];
  const words = [
    element("b", {}, title),
    element("p", {}, ...answer),
    element("p", {}, ...renderInline(why, doNothing)),
  ];
  return element("li", { value: String(value) }, element("div", {}, ...words), ...chart);
}
