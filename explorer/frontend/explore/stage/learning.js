// The area below the chart if a parameter learns: the op's input data, how each backward rule would change the
// parameter, and where it would settle.

import { isStochastic } from "../../choice/choice.js";
import { getData } from "../../choice/data.js";
import { getCatalogue } from "../../choice/entries.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { shape } from "../../elements/svg.js";
import { fillTemplate } from "../../formula/phrases.js";
import { capitalize, formatShare } from "../../formula/numbers.js";
import { formatBars } from "./carried-data.js";
import { toKey } from "../../asking/ask.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { getVisibleArguments } from "./layer-questions.js";
import { createNumbers } from "./numbers.js";

/** @import { Frame } from "../../chart/scene/panels.js" */
/** @import { Choice } from "../../choice/choice.js" */
/** @import { Data } from "../../choice/data.js" */

const BARS = 60;
const MIN_OUTSIDE = 0.03; // fraction of the numbers outside the visible range above which a note mentions them
const BAR_SHARE = 0.6; // height of the highest bar; low, because the curves matter more
const SIGNS = { grow: "↑", shrink: "↓", rest: "=", undefined: "?", cannot: "–" };

/** Return the arguments of the question how the data would change the learning parameter. @param {Choice} choice */
export function getLearningArguments(choice) {
  const { op, rules, parameters } = getVisibleArguments(choice);
  const { kind, values, weights } = getData();
  const numbers = kind === "normal" ? [] : [...values];
  return { op, rules, parameters, learns: choice.learns, numbers, weights: [...(weights ?? [])] };
}

/**
 * Create the area below the chart that explains how the data would change the learning parameter.
 * @param {import("../../choice/store.js").Store} store @param {import("../../asking/ask.js").Ask} ask
 * @param {() => {rules: string[]}} colours @param {boolean} hasData whether there are data; otherwise nothing is shown
 */
export function createLearning(store, ask, colours, hasData) {
  const bars = shape("path", {});
  const picture = shape("svg", { class: "carried-bars", "aria-hidden": "true" });
  picture.append(bars);
  const numbers = createNumbers(() => store.change({ ...store.current }));
  const lead = element("span", { class: "lead" });
  const outside = element("span", { class: "outside" });
  const verdicts = element("ul", { class: "verdicts flex-row" });
  const rest = element("button", { class: "to-rest", onclick: toggleEquilibria });
  const bar = element(
    "div",
    { class: "learning text-small", role: "group", "aria-label": "A parameter that learns" },
    element("div", { class: "learning-head flex-row" }, numbers.element, lead, outside, rest),
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
  const isLearning = (/** @type {Choice} */ choice) =>
    hasData && Boolean(choice.learns) && !isStochastic(choice);

  function toggleEquilibria() {
    const opens = store.current.section !== "rest";
    store.change({ ...store.current, section: opens ? "rest" : "" });
    const screen = bar.closest(".lesson") ?? bar.closest(".instrument");
    const panel = screen?.querySelector(".resting");
    if (opens) panel?.scrollIntoView({ block: "center", behavior: "smooth" });
  }

  function drawBars() {
    const panel = frame?.part;
    if (!frame || !panel || !isLearning(store.current)) return setAttribute(bars, "d", "");
    const low = { top: panel.top + (1 - BAR_SHARE) * panel.height, height: BAR_SHARE * panel.height };
    return setAttribute(bars, "d", formatBars(computeHistogram(getData(), frame.x), frame, low));
  }

  /** @param {Choice} choice */
  function show(choice) {
    description = "";
    if (!isLearning(choice)) return;
    const { words } = getCatalogue().learning;
    const data = getData();
    numbers.show();
    setText(lead, fillTemplate(words.lead, { data: data.label }));
    setText(outside, data.bars ? data.note : formatOutside(data, choice.range));
    setText(rest, `Where does ${choice.learns} come to rest?`);
    setAttribute(rest, "aria-expanded", String(choice.section === "rest"));
    const args = getLearningArguments(choice);
    const key = toKey("pull", args);
    if (key !== last) question.ask(args);
    last = key;
    const rows = listVerdicts(choice, answer, colours().rules);
    render(verdicts, rows.map(makeVerdictRow));
    description =
      `${lead.textContent} ${rows.map(({ text }) => text).join("; ")}. ${outside.textContent}`.trim();
    drawBars();
  }

  return {
    /** @param {HTMLElement} area the element with the chart */
    put(area) {
      area.prepend(picture);
      area.after(bar);
    },
    /** Reserve space below the chart. Call it before the chart measures its size. @param {Choice} choice */
    arrange(choice) {
      bar.hidden = !isLearning(choice);
      bar.closest(".stage")?.classList.toggle("with-learning", isLearning(choice));
    },
    /** @param {Frame} next */
    follow(next) {
      frame = next;
      drawBars();
    },
    show,
    /** Return all sentences as one text for screen readers. It is "" if nothing learns. */
    text: () => description,
    destroy: question.destroy,
  };
}

/** @param {{text: string, sign: string, colour: string}} row */
function makeVerdictRow({ text, sign, colour }) {
  return h(
    "li",
    { "--colour": colour },
    h("b", { "aria-hidden": "true" }, sign),
    h("span", { title: text }, text),
  );
}

/**
 * List the effect of each visible rule on the parameter, as far as Python has answered.
 * @param {Choice} choice @param {import("../../asking/ask.js").Answer} answer
 * @param {string[]} bright colours of the rules by slot
 */
function listVerdicts({ rules }, { rules: verdicts = {}, message }, bright) {
  if (message !== undefined) return [{ text: message, sign: SIGNS.undefined, colour: bright[0] }];
  return rules.flatMap(({ key, slot, hidden }) => {
    const verdict = verdicts[key];
    if (hidden || !verdict) return [];
    const sign = SIGNS[/** @type {keyof typeof SIGNS} */ (verdict.verdict)];
    return [{ text: verdict.words, sign, colour: bright[slot % bright.length] }];
  });
}

/**
 * Describe the fraction of the data outside the visible range. Returns "" if it is small.
 * @param {Data} data @param {[number, number]} view the visible range
 */
function formatOutside({ values }, [start, stop]) {
  const share = values.filter((value) => value < start || value > stop).length / values.length;
  if (share < MIN_OUTSIDE) return "";
  return capitalize(fillTemplate(getCatalogue().learning.words.outside, { share: formatShare(share) }));
}

/**
 * Return a histogram of the data in the visible range. Data that are a histogram already are returned unchanged.
 * @param {Data} data @param {[number, number]} view the visible range
 */
function computeHistogram({ values, bars }, [start, stop]) {
  if (bars) return bars;
  const edges = Array.from({ length: BARS + 1 }, (_, index) => start + (index / BARS) * (stop - start));
  const counts = Array(BARS).fill(0);
  values.forEach((value) => {
    const bin = Math.floor(((value - start) / (stop - start)) * BARS);
    if (bin >= 0 && bin < BARS) counts[bin] += 1;
  });
  return { edges, counts };
}
