// The section Rule map: the gradient of each rule over x and g in colours, with the chosen g as a line to drag.

import { decodeArray } from "../../choice/arrays.js";
import { getEntries, setG } from "../../choice/choice.js";
import { getCatalogue, explainStochasticRefusal } from "../../choice/entries.js";
import { getWordBounds } from "../../choice/view.js";
import { themeOf } from "../../chart/plotly/theme.js";
import { keyed } from "../../elements/children.js";
import { element, setAttribute, setText } from "../../elements/dom.js";
import { capitalize, clampTo } from "../../formula/numbers.js";
import { formatFourDigits } from "../../formula/substitution.js";
import { createLatestQuestion } from "../../asking/latest-question.js";
import { keyOf } from "../../asking/ask.js";
import { bandsOf, cellAt, mapOf } from "../../measures/map.js";
import { visibleRules } from "../stage/layer-questions.js";
import { colourOf, coloursOf, cssOf, paint } from "./map-drawing.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { Bands, RuleMap } from "../../measures/map.js" */
/** @import { Colour } from "./map-drawing.js" */
/** @typedef {{key: string, label: string, map: RuleMap|null, words: string}} Shown */

const LEAST_TOP = 2;
const STEPS = 40; // by arrow keys from −top to top
const STEPS_OF_G = 200; // that a pointer tells apart
const HERE = "Rule map";
const LEAD =
  "Each map: x from left to right, g upwards, the rule's gradient in colours. Drag the line: it is the chosen g.";

/**
 * @param {HTMLElement} host
 * @param {{store: import("../../choice/store.js").Store, ask: import("../../asking/ask.js").Ask}} options
 */
export function createMap(host, { store, ask }) {
  const lead = element("p", {}, LEAD);
  const scale = element("div", { class: "map-scale", role: "img" });
  const area = element("div", { class: "maps" });
  host.append(lead, scale, area);
  const drawn = keyed(area, createOne, (/** @type {Shown} */ { key }) => key);
  let last = "";
  let maps = /** @type {Map<string, {map: RuleMap, words: string}>} */ (new Map());
  let refused = "";
  const question = createLatestQuestion(ask, "map", (answer, args) => {
    refused = answer.message ?? "";
    const { columns, rows, rules = {} } = answer;
    const found = Object.entries(rules).map(([key, { words, unit, values }]) => {
      const numbers = { unit: unit && decodeArray(unit), values: values && decodeArray(values) };
      const map = mapOf({ columns, rows, ...numbers }, args.top);
      return /** @type {const} */ ([key, { map, words: `${capitalize(words)}.` }]);
    });
    maps = new Map(found);
    frame ||= requestAnimationFrame(draw);
  });
  let frame = 0;
  let top = LEAST_TOP;
  let isHeld = false;
  let bands = /** @type {Bands} */ ({ step: 1, count: 1 });
  let theme = /** @type {ReturnType<typeof themeNow>|null} */ (null);
  let look = { step: 0, colours: /** @type {Colour[]} */ ([]), ink: /** @type {Colour} */ ([0, 0, 0]) };

  function changed() {
    host.hidden = store.current.section !== "map";
    if (!host.hidden) frame ||= requestAnimationFrame(draw);
  }

  function draw() {
    frame = 0;
    const choice = store.current;
    if (host.hidden) return;
    const { op, rules } = getEntries(choice);
    const refusal = explainStochasticRefusal(HERE, op, ...rules);
    setText(lead, refusal || LEAD);
    scale.hidden = area.hidden = Boolean(refusal);
    if (refusal) return;
    if (!isHeld) top = topOf(choice); // a hand keeps its scale
    const args = mapArguments(choice, top);
    const key = keyOf("map", args);
    if (key !== last) question.ask(args);
    last = key;
    setText(lead, refused || LEAD);
    const shown = choice.rules.flatMap(({ key, hidden }, at) => {
      const found = maps.get(key);
      return hidden || !found ? [] : [{ key, label: rules[at].label, ...found }];
    });
    bands = bandsOf(
      shown.flatMap(({ map }) => (map ? [map] : [])),
      top,
    );
    const [before, now] = [JSON.stringify(look), lookNow()];
    if (JSON.stringify(now) !== before) look = now;
    drawn.show(shown);
    if (look === now) showScale();
  }

  function showScale() {
    const most = formatFourDigits(bands.step * bands.count);
    const swatches = look.colours.map((colour, index) => {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = cssOf(colour);
      swatch.title = formatFourDigits((index - bands.count) * bands.step);
      if (index === bands.count) swatch.textContent = "0";
      return swatch;
    });
    scale.replaceChildren(`−${most}`, ...swatches, most);
    const each = formatFourDigits(bands.step);
    setAttribute(scale, "aria-label", `Colours from −${most} to ${most}, a band each ${each}; 0 has none.`);
  }

  function lookNow() {
    theme ??= themeNow(); // kept: each look at it has the browser style the whole page at once
    const { ground, ends, ink } = theme;
    return { step: bands.step, colours: coloursOf(bands.count, ground, ends), ink };
  }

  /** @returns {{ground: Colour, ends: [Colour, Colour], ink: Colour}} */
  function themeNow() {
    const { ground, text } = themeOf(host);
    const [below, above] = getCatalogue().colours.ends.map(colourOf);
    return { ground: groundOf(ground), ends: [below, above], ink: colourOf(text) };
  }

  /** The ground of the page, also where the host has none of its own. @param {string} own */
  function groundOf(own) {
    const isClear = /^rgba\(.*, 0\)$|^transparent$/.test(own);
    return colourOf(
      isClear ? getComputedStyle(host).getPropertyValue("--st-background-color").trim() || "#ffffff" : own,
    );
  }

  /** @param {Shown} first */
  function createOne({ label }) {
    const canvas = element("canvas", { role: "img" });
    const chosen = element("span");
    const line = element("div", { class: "map-g", role: "slider", tabindex: 0, onkeydown: press }, chosen);
    const field = element("div", { class: "map-field" }, canvas, line);
    const ends = ["left", "right", "top", "bottom"].map((side) => element("span", { class: `map-${side}` }));
    const pointed = element("span", { class: "map-at" });
    const name = element("div", { class: "map-name" });
    const words = element("p", { role: "status" });
    const one = element(
      "div",
      { class: "map", role: "group", "aria-label": label },
      name,
      element("div", { class: "map-frame" }, field, ...ends, pointed),
      words,
    );
    let now = /** @type {Shown|null} */ (null);
    let painted = /** @type {[RuleMap, typeof look]|null} */ (null);
    field.addEventListener("pointerdown", grasp);
    field.addEventListener("click", tap);
    field.addEventListener("pointermove", point);
    field.addEventListener("pointerleave", () => setText(pointed, ""));

    /** @param {PointerEvent} event */
    function grasp(event) {
      if (isFinger(event) && event.target !== line) return; // the page may be scrolled
      event.preventDefault();
      field.setPointerCapture(event.pointerId);
      line.focus({ preventScroll: true });
      isHeld = true;
      choose(gAt(event), "moving");
      const end = new AbortController();
      const { signal } = end;
      const drag = (/** @type {PointerEvent} */ moved) => choose(gAt(moved), "moving");
      const leave = () => {
        end.abort();
        isHeld = false;
        choose(store.current.g, "settled");
      };
      field.addEventListener("pointermove", drag, { signal });
      for (const name of ["pointerup", "pointercancel"]) field.addEventListener(name, leave, { signal });
    }

    /** @param {PointerEvent} event */
    function tap(event) {
      if (isFinger(event)) choose(gAt(event), "settled");
    }

    /** The g of a place on the map. @param {PointerEvent} event */
    function gAt({ clientY }) {
      const { top: upper, height } = field.getBoundingClientRect();
      return stepped(top - 2 * top * clampTo((clientY - upper) / height, 0, 1), (2 * top) / STEPS_OF_G);
    }

    /** @param {PointerEvent} event */
    function point(event) {
      if (!now?.map) return;
      const { left, top: upper, width, height } = field.getBoundingClientRect();
      const share = (/** @type {number} */ px, /** @type {number} */ of) => clampTo(px / of, 0, 1);
      const { across, down, value } = cellAt(
        now.map,
        share(event.clientX - left, width),
        share(event.clientY - upper, height),
      );
      const [start, stop] = store.current.range;
      const [x, g] = [start + across * (stop - start), top - 2 * top * down].map(tidied);
      setText(pointed, `x = ${formatFourDigits(x)}, g = ${formatFourDigits(g)}: ${formatFourDigits(value)}`);
    }

    /** @param {KeyboardEvent} event */
    function press(event) {
      const step = (2 * top) / STEPS;
      const moves = /** @type {Record<string, number>} */ ({
        ...{ ArrowUp: step, ArrowRight: step, ArrowDown: -step, ArrowLeft: -step },
        ...{ PageUp: 5 * step, PageDown: -5 * step, Home: -Infinity, End: Infinity },
      });
      const move = moves[event.key];
      if (move === undefined) return;
      event.preventDefault();
      choose(stepped(clampTo(store.current.g + move, -top, top), step), "settled", true);
    }

    return {
      element: one,
      /** @param {Shown} shown */
      show(shown) {
        now = shown;
        const choice = store.current;
        const { op } = getEntries(choice);
        const [start, stop] = choice.range;
        setText(name, shown.label);
        const texts = [start, stop, top, -top].map((value) => formatFourDigits(value));
        ends.forEach((end, i) => setText(end, i < 2 ? texts[i] : `g = ${texts[i]}`));
        line.style.top = `${(50 * (top - choice.g)) / top}%`;
        setText(chosen, `g = ${formatFourDigits(choice.g)}`);
        setAttribute(chosen, "class", choice.g > 0.8 * top ? "below" : null);
        setAttribute(line, "aria-label", `Chosen g on the map of ${shown.label}`);
        setAttribute(line, "aria-orientation", "vertical");
        for (const [end, value] of [
          ["min", -top],
          ["max", top],
          ["now", choice.g],
        ])
          setAttribute(line, `aria-value${end}`, value);
        if (shown.map && !(painted?.[0] === shown.map && painted[1] === look)) {
          paint(canvas, shown.map, bands, look.colours, look.ink);
          painted = [shown.map, look];
        }
        setText(words, shown.words);
        setAttribute(canvas, "aria-label", `The gradient of ${shown.label} over x and g. ${shown.words}`);
      },
    };
  }

  /** @param {number} g @param {"moving"|"settled"} how @param {boolean} [byKeys] */
  function choose(g, how, byKeys = false) {
    store.change(setG(store.current, g), { phase: how, target: byKeys ? "g" : null });
  }

  const stop = store.subscribeNow(changed);
  return {
    /** Draw anew: the colours have changed. */
    refresh() {
      theme = null;
      changed();
    },
    destroy() {
      stop();
      question.destroy();
      cancelAnimationFrame(frame);
    },
  };
}

/** The largest g of a map. @param {Choice} choice */
const topOf = ({ g }) => Math.max(LEAST_TOP, rounded(Math.abs(g)));

/** The arguments of the question about a choice. @param {Choice} choice */
export function mapArguments(choice, top = topOf(choice)) {
  return { ...visibleRules(choice), top };
}

/** The next of 1, 2, 5, 10, … times a power of ten, within what g may be. @param {number} value */
function rounded(value) {
  if (!value) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  const next =
    power * /** @type {number} */ ([1, 2, 5, 10].find((factor) => factor * power >= value * (1 - 1e-9)));
  return Math.min(next, getWordBounds("g")[1]);
}

/** The nearest multiple of a step. @param {number} value @param {number} step */
function stepped(value, step) {
  return Number((Math.round(value / step) * step).toPrecision(6)) + 0;
}

/** A sum without its rounding. @param {number} value */
const tidied = (value) => Number(value.toPrecision(12)) + 0;

/** @param {PointerEvent} event */
function isFinger({ pointerType }) {
  return pointerType === "touch";
}
