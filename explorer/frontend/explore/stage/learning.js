// Below the curves of a parameter that learns: the data, their verdict, and the way to its points of rest.

import { isStochastic } from "../../choice/choice.js";
import { getData } from "../../choice/data.js";
import { getCatalogue } from "../../choice/entries.js";
import { counted } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { shape } from "../../elements/svg.js";
import { fillTemplate } from "../../formula/phrases.js";
import { capitalize, formatShare } from "../../formula/numbers.js";
import { barsPath } from "./carried.js";
import { keyOf } from "../../asking/ask.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { visibleRules } from "./layer-questions.js";
import { createNumbers } from "./numbers.js";

/** @import { Frame } from "../../chart/scene/panels.js" */
/** @import { Choice } from "../../choice/choice.js" */
/** @import { Data } from "../../choice/data.js" */

const BARS = 60;
const MUCH = 0.03; // of the numbers outside the view, to be noted
const ROOF = 0.6; // of the height that bars have behind the gradients: here the curves are what counts
const SIGNS = { grow: "↑", shrink: "↓", rest: "=", undefined: "?", cannot: "–" };

/** The question about what data make of a parameter. @param {Choice} choice */
export function learningArguments(choice) {
  const { op, rules, parameters } = visibleRules(choice);
  const { kind, values, weights } = getData();
  const numbers = kind === "normal" ? [] : [...values];
  return { op, rules, parameters, learns: choice.learns, numbers, weights: [...(weights ?? [])] };
}

/**
 * @param {import("../../choice/store.js").Store} store
 * @param {import("../../asking/ask.js").Ask} ask
 * @param {() => {rules: string[]}} colours
 * @param {boolean} hasData else there is nothing to show, whatever learns
 */
export function createLearning(store, ask, colours, hasData) {
  const bars = shape("path", {});
  const picture = shape("svg", { class: "carried-bars", "aria-hidden": "true" });
  picture.append(bars);
  const numbers = createNumbers(() => store.change({ ...store.current }));
  const lead = element("span", { class: "lead" });
  const outside = element("span", { class: "outside" });
  const verdicts = element("ul", { class: "verdicts" });
  const rest = element("button", { class: "to-rest", onclick: toggleRest });
  const bar = element(
    "div",
    { class: "learning", role: "group", "aria-label": "A parameter that learns" },
    element("div", { class: "learning-head" }, numbers.element, lead, outside, rest),
    verdicts,
  );
  let frame = /** @type {Frame|null} */ (null);
  let description = "";
  let last = "";
  let answer = /** @type {import("../../asking/ask.js").Answer} */ ({});
  const question = createLatestQuestion(ask, "pull", (found) => {
    answer = found;
    show(store.current);
  });
  const learns = (/** @type {Choice} */ choice) => hasData && Boolean(choice.learns) && !isStochastic(choice);

  function toggleRest() {
    const opens = store.current.section !== "rest";
    store.change({ ...store.current, section: opens ? "rest" : "" });
    const screen = bar.closest(".lesson") ?? bar.closest(".instrument");
    const panel = screen?.querySelector(".resting");
    if (opens) panel?.scrollIntoView({ block: "center", behavior: "smooth" });
  }

  function drawBars() {
    const panel = frame?.part;
    if (!frame || !panel || !learns(store.current)) return setAttribute(bars, "d", "");
    const low = { top: panel.top + (1 - ROOF) * panel.height, height: ROOF * panel.height };
    return setAttribute(bars, "d", barsPath(histogram(getData(), frame.x), frame, low));
  }

  /** @param {Choice} choice */
  function show(choice) {
    description = "";
    if (!learns(choice)) return;
    const { words } = getCatalogue().learning;
    const data = getData();
    numbers.show();
    setText(lead, fillTemplate(words.lead, { data: data.label }));
    setText(outside, data.bars ? data.note : outsideText(data, choice.range));
    setText(rest, `Where does ${choice.learns} come to rest?`);
    setAttribute(rest, "aria-expanded", String(choice.section === "rest"));
    const args = learningArguments(choice);
    const key = keyOf("pull", args);
    if (key !== last) question.ask(args);
    last = key;
    const rows = verdictsOf(choice, answer, colours().rules);
    counted(verdicts, rows, row, ({ style, children: [mark, sentence] }, { text, sign, colour }) => {
      style.setProperty("--colour", colour);
      setText(mark, sign);
      setText(sentence, text);
      sentence.title = text;
    });
    description =
      `${lead.textContent} ${rows.map(({ text }) => text).join("; ")}. ${outside.textContent}`.trim();
    drawBars();
  }

  return {
    /** @param {HTMLElement} area of a chart: the bars lie behind its curves, the rest below it */
    put(area) {
      area.prepend(picture);
      area.after(bar);
    },
    /** Take the space it needs, before curves are drawn. @param {Choice} choice */
    arrange(choice) {
      bar.hidden = !learns(choice);
      bar.closest(".chart")?.classList.toggle("learns", learns(choice));
    },
    /** @param {Frame} next */
    follow(next) {
      frame = next;
      drawBars();
    },
    show,
    /** The sentences in one, for those who cannot see the chart; "" if nothing learns. */
    text: () => description,
    destroy: question.destroy,
  };
}

function row() {
  return element("li", {}, element("b", { "aria-hidden": "true" }), element("span"));
}

/**
 * The verdict of the data on the parameter under each visible rule, as far as Python has answered.
 * @param {Choice} choice
 * @param {import("../../asking/ask.js").Answer} answer
 * @param {string[]} bright
 */
function verdictsOf({ rules }, { rules: verdicts = {}, message }, bright) {
  if (message !== undefined) return [{ text: message, sign: SIGNS.undefined, colour: bright[0] }];
  return rules.flatMap(({ key, slot, hidden }) => {
    const found = verdicts[key];
    if (hidden || !found) return [];
    const sign = SIGNS[/** @type {keyof typeof SIGNS} */ (found.verdict)];
    return [{ text: found.words, sign, colour: bright[slot % bright.length] }];
  });
}

/** A note on the share of numbers outside the view, "" if it is small. @param {Data} data @param {[number, number]} view */
function outsideText({ values }, [start, stop]) {
  const share = values.filter((value) => value < start || value > stop).length / values.length;
  if (share < MUCH) return "";
  return capitalize(fillTemplate(getCatalogue().learning.words.outside, { share: formatShare(share) }));
}

/**
 * The histogram of numbers in a view: bars of equal width if each number is known.
 * @param {Data} data
 * @param {[number, number]} view
 */
function histogram({ values, bars }, [start, stop]) {
  if (bars) return bars;
  const edges = Array.from({ length: BARS + 1 }, (_, index) => start + (index / BARS) * (stop - start));
  const counts = Array(BARS).fill(0);
  values.forEach((value) => {
    const bin = Math.floor(((value - start) / (stop - start)) * BARS);
    if (bin >= 0 && bin < BARS) counts[bin] += 1;
  });
  return { edges, counts };
}
