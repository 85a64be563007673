// The section Where it settles: a learning parameter's mean squared error and gradients over its range, with the
// equilibria, where a gradient is 0.

import { getControls, getEntries } from "../../choice/choice.js";
import { getData } from "../../choice/data.js";
import { getCatalogue, explainStochasticRefusal } from "../../choice/entries.js";
import { createFigure } from "../../chart/plotly/figure.js";
import { element, setText } from "../../elements/dom.js";
import { createSliders } from "../../choice/sliders.js";
import { getControlValue } from "../../formula/controls.js";
import { fillTemplate } from "../../formula/phrases.js";
import { toKey } from "../../asking/ask.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { decodeArray } from "../../choice/arrays.js";
import { getLearningArguments } from "../stage/learning.js";
import { drawEquilibria } from "./equilibria-drawing.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Control } from "../../formula/controls.js" */
/** @import { Equilibria } from "./equilibria-drawing.js" */

const SECTION_NAME = "Where it settles";
const NOTHING_TEXT = "No parameter learns yet: press “learns” next to one on a card.";

/**
 * Create the section that shows where training would move a parameter.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, plotly: string|Promise<*>, ask:
 *   import("../../asking/ask.js").Ask, colours: () => {rules: string[], neutral: string}}} options
 */
export function createEquilibria(host, { store, plotly, ask, colours }) {
  const area = element("div", { class: "rest-figure" });
  const sentenceList = element("ul", { class: "rest-words", role: "status" });
  const lead = element("p");
  const emptyText = element("p", {}, NOTHING_TEXT);
  const sliders = createSliders(store);
  const content = element("div", { class: "rest" }, sliders.element, lead, area, sentenceList);
  const compose = (/** @type {import("./equilibria-drawing.js").Picture} */ picture) =>
    drawEquilibria(picture, area.clientWidth);
  const figure = createFigure(area, { plotly, hover: false, compose });
  let last = "";
  let refused = "";
  let equilibria = /** @type {Equilibria|null} */ (null);
  const question = createLatestQuestion(ask, "rest", (answer) => {
    refused = answer.message ?? "";
    equilibria = answer.message === undefined ? decodeEquilibria(answer) : null;
    frame ||= requestAnimationFrame(draw);
  });
  let frame = 0;
  host.append(emptyText, content);

  /** @param {Choice} choice */
  function handleChange(choice) {
    host.hidden = choice.section !== "rest";
    const { op, rules } = getEntries(choice);
    const refusal = explainStochasticRefusal(SECTION_NAME, op, ...rules);
    setText(emptyText, refusal || NOTHING_TEXT);
    content.hidden = !choice.learns || Boolean(refusal);
    emptyText.hidden = !content.hidden;
    if (!host.hidden) frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    const choice = store.current;
    if (host.hidden || content.hidden) return;
    const control = getLearningControl(choice);
    requestEquilibria(choice);
    const { op, rules } = getEntries(choice);
    const { words } = getCatalogue().learning;
    const { neutral, rules: bright } = colours();
    const visible = choice.rules.flatMap(({ slot, hidden }, at) =>
      hidden ? [] : [{ key: rules[at].key, label: rules[at].label, colour: bright[slot % bright.length] }],
    );
    setText(lead, refused || fillTemplate(words.lead, { data: getData().label }).replace(/:$/, "."));
    sliders.show([control]);
    area.hidden = sentenceList.hidden = equilibria === null;
    if (!equilibria) return;
    const sentences = [...visible.map(({ key }) => equilibria?.words[key] ?? ""), equilibria.least].filter(
      Boolean,
    );
    sentenceList.replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
    const fields = { equilibria, rules: visible, neutral, name: choice.learns, op: op.label };
    figure.draw({
      ...fields,
      value: getControlValue(choice.parameters, control),
      log: control.parameter.scale === "log",
      words: sentences.join(" "),
    });
  }

  /** @param {Choice} choice */
  function requestEquilibria(choice) {
    const args = getEquilibriaArguments(choice);
    const key = toKey("rest", args);
    if (key !== last) question.ask(args);
    last = key;
  }

  const stop = store.subscribeNow(handleChange);
  return {
    /** Redraw the section after a change of the page's colours. */
    refresh: () => handleChange(store.current),
    destroy() {
      stop();
      question.destroy();
      cancelAnimationFrame(frame);
      figure.destroy();
    },
  };
}

/**
 * Return the arguments of the question for the equilibria of a parameter. They do not include its own value.
 * @param {Choice} choice
 */
export function getEquilibriaArguments(choice) {
  const { [getLearningControl(choice).name]: _own, ...parameters } = choice.parameters;
  return getLearningArguments({ ...choice, parameters });
}

/** @param {Choice} choice @returns {Control} */
function getLearningControl(choice) {
  const controls = getControls(choice);
  return /** @type {Control} */ (controls.find(({ parameter }) => parameter.name === choice.learns));
}

/** @param {import("../../asking/ask.js").Answer} answer @returns {Equilibria} */
function decodeEquilibria({ at, error, least, rules }) {
  const mapRules = (/** @type {(rule: *) => *} */ of) =>
    Object.fromEntries(Object.entries(rules).map(([key, rule]) => [key, of(rule)]));
  return {
    ...{ at: decodeArray(at), error: decodeArray(error), least },
    gradients: mapRules(({ gradient }) => decodeArray(gradient)),
    places: mapRules(({ places }) => places),
    words: mapRules(({ words }) => words),
  };
}
