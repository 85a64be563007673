// The section Rule map: each backward rule's gradient over x and the upstream gradient g in colours, with a line at the
// selected g.

import { decodeArray } from "../../choice/arrays.js";
import { getEntries, setG } from "../../choice/choice.js";
import { explainStochasticRefusal } from "../../choice/entries.js";
import { getQueryBounds } from "../../choice/view.js";
import { createChildren } from "../../elements/children.js";
import { readColour, readFixedColour } from "../../elements/colours.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { h, render } from "../../elements/render.js";
import { capitalize, clampTo } from "../../formula/numbers.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { toKey } from "../../asking/ask.js";
import { computeColourBands, findCell, makeGradientMap } from "../../measures/map.js";
import { getVisibleArguments } from "../stage/layer-questions.js";
import { makeColours, toCss, paintMap } from "./map-drawing.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Bands, RuleMap } from "../../measures/map.js" */
/** @import { Colour } from "../../elements/colours.js" */
/**
 * The map of a rule. ``map``: null if Python has none; ``words``: its description.
 * @typedef {{key: string, label: string, map: RuleMap|null, words: string}} ShownMap
 */

const MIN_TOP = 2;
const STEPS = 40; // arrow key presses from the lowest g to the highest
const POINTER_STEPS = 200; // number of g that a pointer can select
const SECTION_NAME = "Rule map";
const LEAD =
  "Each map: x from left to right, g upwards, the rule's gradient in colours. Drag the line: it is the chosen g.";

/**
 * Create the section Rule map, with one coloured map for each rule.
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").Ask}} options
 */
export function createMap(host, { store, ask }) {
  const lead = element("p", {}, LEAD);
  const scale = element("div", { class: "map-scale flex-row text-small", role: "img" });
  const area = element("div", { class: "maps" });
  host.append(lead, scale, area);
  const mapList = createChildren(area, createMapElement, (/** @type {ShownMap} */ { key }) => key);
  let last = "";
  let maps = /** @type {Map<string, {map: RuleMap, words: string}>} */ (new Map());
  let refused = "";
  const question = createLatestQuestion(ask, "map", (answer, args) => {
    refused = answer.message ?? "";
    const { columns, rows, rules = {} } = answer;
    const entries = Object.entries(rules).map(([key, { words, unit, values }]) => {
      const numbers = { unit: unit && decodeArray(unit), values: values && decodeArray(values) };
      const map = makeGradientMap({ columns, rows, ...numbers }, args.top);
      return /** @type {const} */ ([key, { map, words: `${capitalize(words)}.` }]);
    });
    maps = new Map(entries);
    frame ||= requestAnimationFrame(draw);
  });
  let frame = 0;
  let top = MIN_TOP;
  let isHeld = false;
  let bands = /** @type {Bands} */ ({ step: 1, count: 1 });
  let theme = /** @type {ReturnType<typeof readTheme>|null} */ (null);
  let look = { step: 0, colours: /** @type {Colour[]} */ ([]), ink: /** @type {Colour} */ ([0, 0, 0]) };

  function handleChange() {
    host.hidden = store.current.section !== "map";
    if (!host.hidden) frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    const choice = store.current;
    if (host.hidden) return;
    const { op, rules } = getEntries(choice);
    const refusal = explainStochasticRefusal(SECTION_NAME, op, ...rules);
    setText(lead, refusal || LEAD);
    scale.hidden = area.hidden = Boolean(refusal);
    if (refusal) return;
    if (!isHeld) top = getTop(choice); // keep the g axis during a drag
    const args = getMapArguments(choice, top);
    const key = toKey("map", args);
    if (key !== last) question.ask(args);
    last = key;
    setText(lead, refused || LEAD);
    const shownMaps = choice.rules.flatMap(({ key, hidden }, at) => {
      const stored = maps.get(key);
      return hidden || !stored ? [] : [{ key, label: rules[at].label, ...stored }];
    });
    bands = computeColourBands(
      shownMaps.flatMap(({ map }) => (map ? [map] : [])),
      top,
    );
    const [before, now] = [JSON.stringify(look), makeLook()];
    if (JSON.stringify(now) !== before) look = now;
    mapList.show(shownMaps);
    if (look === now) showScale();
  }

  function showScale() {
    const maxText = formatFourDigits(bands.step * bands.count);
    const swatches = look.colours.map((colour, index) => {
      const title = formatFourDigits((index - bands.count) * bands.step);
      const style = `background: ${toCss(colour)}`;
      return h("span", { class: "swatch", style, title }, index === bands.count && "0");
    });
    render(scale, `−${maxText}`, swatches, maxText);
    const bandText = formatFourDigits(bands.step);
    setAttribute(
      scale,
      "aria-label",
      `Colours from −${maxText} to ${maxText}, a band each ${bandText}; 0 has none.`,
    );
  }

  function makeLook() {
    theme ??= readTheme(); // cached, because reading colours forces a style calculation
    const { ground, ends, ink } = theme;
    return { step: bands.step, colours: makeColours(bands.count, ground, ends), ink };
  }

  /** @returns {{ground: Colour, ends: [Colour, Colour], ink: Colour}} */
  function readTheme() {
    const [ground, ink] = ["ground", "ink"].map((token) => readColour(host, token));
    return { ground, ends: [readFixedColour(host, "negative"), readFixedColour(host, "positive")], ink };
  }

  /** @param {ShownMap} first */
  function createMapElement({ label }) {
    const canvas = element("canvas", { role: "img" });
    const line = element("div", { class: "map-g", role: "slider", tabindex: 0, onkeydown: handleKey });
    const field = element("div", { class: "map-field" }, canvas, line);
    const pointerLabel = element("span", { class: "map-at", style: "grid-area: at; text-align: center" });
    const group = element("div", { class: "map", role: "group", "aria-label": label });
    let now = /** @type {ShownMap|null} */ (null);
    let painted = /** @type {[RuleMap, typeof look]|null} */ (null);
    field.addEventListener("pointerdown", startDrag);
    field.addEventListener(
      "click",
      (/** @type {*} */ event) => isTouch(event) && setChosenG(toG(event), "settled"),
    );
    field.addEventListener("pointermove", showValue);
    field.addEventListener("pointerleave", () => setText(pointerLabel, ""));

    /** @param {PointerEvent} event */
    function startDrag(event) {
      if (isTouch(event) && event.target !== line) return; // elsewhere, a touch scrolls the page
      event.preventDefault();
      field.setPointerCapture(event.pointerId);
      line.focus({ preventScroll: true });
      isHeld = true;
      setChosenG(toG(event), "moving");
      const end = new AbortController();
      const { signal } = end;
      const drag = (/** @type {PointerEvent} */ moved) => setChosenG(toG(moved), "moving");
      const leave = () => {
        end.abort();
        isHeld = false;
        setChosenG(store.current.g, "settled");
      };
      field.addEventListener("pointermove", drag, { signal });
      for (const name of ["pointerup", "pointercancel"]) field.addEventListener(name, leave, { signal });
    }

    /** @param {PointerEvent} event */
    function toG({ clientY }) {
      const { top: upper, height } = field.getBoundingClientRect();
      return roundToStep(
        top - 2 * top * clampTo((clientY - upper) / height, 0, 1),
        (2 * top) / POINTER_STEPS,
      );
    }

    /** @param {PointerEvent} event */
    function showValue(event) {
      if (!now?.map) return;
      const { left, top: upper, width, height } = field.getBoundingClientRect();
      const share = (/** @type {number} */ px, /** @type {number} */ of) => clampTo(px / of, 0, 1);
      const {
        across: xShare,
        down: yShare,
        value,
      } = findCell(now.map, share(event.clientX - left, width), share(event.clientY - upper, height));
      const [start, stop] = store.current.range;
      const [x, g] = [start + xShare * (stop - start), top - 2 * top * yShare].map(removeRounding);
      setText(
        pointerLabel,
        `x = ${formatFourDigits(x)}, g = ${formatFourDigits(g)}: ${formatFourDigits(value)}`,
      );
    }

    /** @param {KeyboardEvent} event */
    function handleKey(event) {
      const step = (2 * top) / STEPS;
      const moves = /** @type {Record<string, number>} */ ({
        ...{ ArrowUp: step, ArrowRight: step, ArrowDown: -step, ArrowLeft: -step },
        ...{ PageUp: 5 * step, PageDown: -5 * step, Home: -Infinity, End: Infinity },
      });
      const move = moves[event.key];
      if (move === undefined) return;
      event.preventDefault();
      setChosenG(roundToStep(clampTo(store.current.g + move, -top, top), step), "settled", true);
    }

    return {
      element: group,
      /** @param {ShownMap} shown */
      show(shown) {
        now = shown;
        const { g, range } = store.current;
        const [left, right, above, below] = [...range, top, -top].map(formatFourDigits);
        const ends = { left, right, top: `g = ${above}`, bottom: `g = ${below}` };
        const texts = Object.entries(ends).map(([side, text]) =>
          h("span", { class: `map-${side}`, style: `grid-area: ${side}` }, text),
        );
        render(
          group,
          h("div", { class: "map-name" }, shown.label),
          h("div", { class: "map-frame text-small" }, field, texts, pointerLabel),
          h("p", { role: "status" }, shown.words),
        );
        line.style.top = `${(50 * (top - g)) / top}%`;
        render(line, h("span", { class: g > 0.8 * top && "below" }, `g = ${formatFourDigits(g)}`));
        setAttribute(line, "aria-label", `Chosen g on the map of ${shown.label}`);
        setAttribute(line, "aria-orientation", "vertical");
        for (const [end, value] of Object.entries({ min: -top, max: top, now: g }))
          setAttribute(line, `aria-value${end}`, value);
        if (shown.map && !(painted?.[0] === shown.map && painted[1] === look)) {
          paintMap(canvas, shown.map, bands, look.colours, look.ink);
          painted = [shown.map, look];
        }
        setAttribute(canvas, "aria-label", `The gradient of ${shown.label} over x and g. ${shown.words}`);
      },
    };
  }

  /**
   * @param {number} g @param {"moving"|"settled"} how
   * @param {boolean} [byKeys] whether it is one of a series of key presses
   */
  function setChosenG(g, how, byKeys = false) {
    store.change(setG(store.current, g), { phase: how, target: byKeys ? "g" : null });
  }

  const stop = store.subscribeNow(handleChange);
  return {
    /** Redraw the maps after a change of the page's colours. */
    refresh() {
      theme = null;
      handleChange();
    },
    destroy() {
      stop();
      question.destroy();
      cancelAnimationFrame(frame);
    },
  };
}

/** @param {Choice} choice */
const getTop = ({ g }) => Math.max(MIN_TOP, roundUp(Math.abs(g)));

/** Return the arguments of the question for the gradients of all rules over x and g. @param {Choice} choice */
export function getMapArguments(choice, top = getTop(choice)) {
  return { ...getVisibleArguments(choice), top };
}

/** Round a positive number up to 1, 2 or 5 times a power of ten, at most to the largest g. @param {number} value */
function roundUp(value) {
  if (!value) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  const next =
    power * /** @type {number} */ ([1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-9)));
  return Math.min(next, getQueryBounds("g")[1]);
}

/** @param {number} value @param {number} step */
function roundToStep(value, step) {
  return Number((Math.round(value / step) * step).toPrecision(6)) + 0;
}

/** Round a sum such as 0.1 + 0.2 to 0.3. @param {number} value */
const removeRounding = (value) => Number(value.toPrecision(12)) + 0;

/** @param {PointerEvent} event */
function isTouch({ pointerType }) {
  return pointerType === "touch";
}
