// The section Where it settles: a parameter that learns over its range, its gradient beside the error, and where it rests.

import { getBounds, getControls, getEntries, setParameter } from "../../choice/choice.js";
import { getData } from "../../choice/data.js";
import { getCatalogue, explainStochasticRefusal } from "../../choice/entries.js";
import { createFigure } from "../../chart/plotly/figure.js";
import { element, setText } from "../../elements/dom.js";
import { createSlider } from "../../elements/slider.js";
import { valueOf } from "../../formula/controls.js";
import { fillTemplate } from "../../formula/phrases.js";
import { keyOf } from "../../asking/ask.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { decodeArray } from "../../choice/arrays.js";
import { learningArguments } from "../stage/learning.js";
import { restDrawing } from "./rest-drawing.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Control } from "../../formula/controls.js" */
/** @import { Rest } from "./rest-drawing.js" */

const HERE = "Where it settles";
const NOTHING = "No parameter learns yet: press “learns” beside one on a card.";

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, plotly: string|Promise<*>,
 *   ask: import("../../asking/ask.js").Ask, colours: () => {rules: string[], neutral: string}}} options
 */
export function createResting(host, { store, plotly, ask, colours }) {
  const area = element("div", { class: "rest-figure" });
  const said = element("ul", { class: "rest-words", role: "status" });
  const lead = element("p");
  const nothing = element("p", {}, NOTHING);
  const slide = element("div", { class: "rest-slider" });
  const whole = element("div", {}, slide, lead, area, said);
  const compose = (/** @type {import("./rest-drawing.js").Picture} */ picture) =>
    restDrawing(picture, area.clientWidth);
  const figure = createFigure(area, { plotly, hover: false, compose });
  let slider = /** @type {{name: string, part: ReturnType<typeof createSlider>}|null} */ (null);
  let last = "";
  let refused = "";
  let rest = /** @type {Rest|null} */ (null);
  const question = createLatestQuestion(ask, "rest", (answer) => {
    refused = answer.message ?? "";
    rest = answer.message === undefined ? decodeRest(answer) : null;
    frame ||= requestAnimationFrame(draw);
  });
  let frame = 0;
  host.append(nothing, whole);

  /** @param {Choice} choice */
  function changed(choice) {
    host.hidden = choice.section !== "rest";
    const { op, rules } = getEntries(choice);
    const refusal = explainStochasticRefusal(HERE, op, ...rules);
    setText(nothing, refusal || NOTHING);
    whole.hidden = !choice.learns || Boolean(refusal);
    nothing.hidden = !whole.hidden;
    if (!host.hidden) frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    const choice = store.current;
    if (host.hidden || whole.hidden) return;
    const control = controlOf(choice);
    askFor(choice);
    const { op, rules } = getEntries(choice);
    const { words } = getCatalogue().learning;
    const { neutral, rules: bright } = colours();
    const visible = choice.rules.flatMap(({ slot, hidden }, at) =>
      hidden ? [] : [{ key: rules[at].key, label: rules[at].label, colour: bright[slot % bright.length] }],
    );
    setText(lead, refused || fillTemplate(words.lead, { data: getData().label }).replace(/:$/, "."));
    showSlider(choice, control);
    area.hidden = said.hidden = rest === null;
    if (!rest) return;
    const sentences = [...visible.map(({ key }) => rest?.words[key] ?? ""), rest.least].filter(Boolean);
    said.replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
    const drawn = { rest, rules: visible, neutral, name: choice.learns, op: op.label };
    figure.draw({
      ...drawn,
      value: valueOf(choice.parameters, control),
      log: control.parameter.scale === "log",
      words: sentences.join(" "),
    });
  }

  /** @param {Choice} choice */
  function askFor(choice) {
    const args = restArguments(choice);
    const key = keyOf("rest", args);
    if (key !== last) question.ask(args);
    last = key;
  }

  /** @param {Choice} choice @param {Control} control */
  function showSlider(choice, control) {
    if (slider?.name !== control.name) {
      const { name, meaning } = control.parameter;
      const part = createSlider({
        name,
        meaning,
        onChange: (value, phase, byKeys) =>
          store.change(setParameter(store.current, control, value), {
            phase,
            target: byKeys ? control.name : null,
          }),
      });
      slider = { name: control.name, part };
      slide.replaceChildren(part.element);
    }
    const bounds = getBounds(choice, control);
    const log = control.parameter.scale === "log" && bounds[0] > 0;
    slider.part.update(valueOf(choice.parameters, control), bounds, log, control.parameter.reach);
  }

  const stop = store.subscribeNow(changed);
  return {
    /** Draw anew: the colours have changed. */
    refresh: () => changed(store.current),
    destroy() {
      stop();
      question.destroy();
      cancelAnimationFrame(frame);
      figure.destroy();
    },
  };
}

/** The arguments of the question where the parameter rests, whatever its own value. @param {Choice} choice */
export function restArguments(choice) {
  const { [controlOf(choice).name]: _own, ...parameters } = choice.parameters;
  return learningArguments({ ...choice, parameters });
}

/** The control of the parameter that learns. @param {Choice} choice @returns {Control} */
function controlOf(choice) {
  const controls = getControls(choice);
  return /** @type {Control} */ (controls.find(({ parameter }) => parameter.name === choice.learns));
}

/** An answer with its arrays. @param {import("../../asking/ask.js").Answer} answer @returns {Rest} */
function decodeRest({ at, error, least, rules }) {
  const every = (/** @type {(rule: *) => *} */ of) =>
    Object.fromEntries(Object.entries(rules).map(([key, rule]) => [key, of(rule)]));
  return {
    ...{ at: decodeArray(at), error: decodeArray(error), least },
    gradients: every(({ gradient }) => decodeArray(gradient)),
    places: every(({ places }) => places),
    words: every(({ words }) => words),
  };
}
