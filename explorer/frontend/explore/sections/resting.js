// The section Where it settles: a parameter that learns over its range, its gradient beside the error, and where it rests.

import { boundsOf, choiceControls, entriesOf, withParameter } from "../../choice/choice.js";
import { chosenData } from "../../choice/data.js";
import { catalogue, refusalOfDrawn } from "../../choice/entries.js";
import { createFigure } from "../../chart/plotly/figure.js";
import { element, setText } from "../../elements/dom.js";
import { createSlider } from "../../elements/slider.js";
import { valueOf } from "../../formula/controls.js";
import { filled } from "../../formula/phrases.js";
import { restWords } from "../../measures/learning-words.js";
import { restOf } from "../../measures/pull.js";
import { restDrawing } from "./rest-drawing.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Control } from "../../formula/controls.js" */
/** @import { Rest } from "../../measures/pull.js" */

const HERE = "Where it settles";
const NOTHING = "No parameter learns yet: press “learns” beside one on a card.";

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, plotly: string,
 *   colours: () => {rules: string[], neutral: string}}} options
 */
export function createResting(host, { store, plotly, colours }) {
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
  let known = /** @type {{key: string, data: import("../../choice/data.js").Data, rest: Rest}|null} */ (null);
  let frame = 0;
  host.append(nothing, whole);

  /** @param {Choice} choice */
  function changed(choice) {
    host.hidden = choice.section !== "rest";
    const { op, rules } = entriesOf(choice);
    const refusal = refusalOfDrawn(HERE, op, ...rules);
    setText(nothing, refusal || NOTHING);
    whole.hidden = !choice.learns || Boolean(refusal);
    nothing.hidden = !whole.hidden;
    if (!host.hidden) frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    const choice = store.now;
    if (host.hidden || whole.hidden) return;
    const control = controlOf(choice);
    const rest = restNow(choice, control);
    const { op, rules } = entriesOf(choice);
    const { words, places } = catalogue().learning;
    const { neutral, rules: bright } = colours();
    const visible = choice.rules.flatMap(({ slot, hidden }, at) =>
      hidden ? [] : [{ key: rules[at].key, label: rules[at].label, colour: bright[slot % bright.length] }],
    );
    const sentences = restWords(words, rest, visible, choice.learns, places);
    setText(lead, filled(words.lead, { data: chosenData().label }).replace(/:$/, "."));
    said.replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
    showSlider(choice, control);
    const drawn = { rest, rules: visible, neutral, name: choice.learns, op: op.label };
    figure.draw({
      ...drawn,
      value: valueOf(choice.parameters, control),
      log: control.parameter.scale === "log",
      words: sentences.join(" "),
    });
  }

  /** The parameter over its range; computed anew if anything but the parameter itself changes. @param {Choice} choice @param {Control} control */
  function restNow(choice, control) {
    const { op, rules } = entriesOf(choice);
    const others = { ...choice.parameters };
    delete others[control.name];
    const data = chosenData();
    const keys = choice.rules.map(({ key }) => key);
    const key = JSON.stringify([choice.op, keys, others, choice.learns]);
    if (key !== known?.key || data !== known.data)
      known = { key, data, rest: restOf(op, rules, choice.learns, data, others, catalogue().learning) };
    return known.rest;
  }

  /** @param {Choice} choice @param {Control} control */
  function showSlider(choice, control) {
    if (slider?.name !== control.name) {
      const { name, meaning } = control.parameter;
      const part = createSlider({
        name,
        meaning,
        onChange: (value, phase, byKeys) =>
          store.change(withParameter(store.now, control, value), {
            phase,
            thing: byKeys ? control.name : null,
          }),
      });
      slider = { name: control.name, part };
      slide.replaceChildren(part.element);
    }
    const bounds = boundsOf(choice, control);
    const log = control.parameter.scale === "log" && bounds[0] > 0;
    slider.part.update(valueOf(choice.parameters, control), bounds, log, control.parameter.reach);
  }

  const stop = store.follow(changed);
  return {
    /** Draw anew: the colours have changed. */
    refresh: () => changed(store.now),
    destroy() {
      stop();
      cancelAnimationFrame(frame);
      figure.destroy();
    },
  };
}

/** The control of the parameter that learns. @param {Choice} choice @returns {Control} */
function controlOf(choice) {
  const controls = choiceControls(choice);
  return /** @type {Control} */ (controls.find(({ parameter }) => parameter.name === choice.learns));
}
