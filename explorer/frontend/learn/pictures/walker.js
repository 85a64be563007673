// A figure of one random unit, which outputs 1 with probability p: the reader drags p, chooses a gradient estimator and
// sees training runs.

import { element, createId, setText } from "../../elements/dom.js";
import { createSlider } from "../../elements/slider.js";
import { clampTo } from "../../formula/numbers.js";
import { drawUniforms } from "../../formula/draws.js";
import { evaluate, UNIFORM } from "../../formula/evaluation.js";
import { createLossPanel, createRunsPanel } from "./walk-panels.js";
import * as say from "./walk-words.js";
import * as walks from "./walk.js";

/** @import { Control, Settings, StochasticUnit } from "./walk.js" */

const IDLE_MS = 250; // pause in input before all runs are counted

/**
 * Create the figure of a random unit with several gradient estimators.
 * @param {StochasticUnit} unit @param {{signal: AbortSignal}} options @returns {import("./pictures.js").Picture}
 */
export function createUnitPicture(unit, { signal }) {
  const estimators = walks.resolveEstimators(unit);
  const settings = /** @type {Settings} */ ({
    p: unit.start.default,
    rate: unit.rate.default,
    parameters: Object.fromEntries(unit.parameters.map(({ name, default: usual }) => [name, usual])),
  });
  let selected = Object.keys(estimators)[0];
  let byMean = false;
  const loss = createLossPanel(unit);
  const runs = createRunsPanel(unit);
  const table = createTable(Object.keys(estimators), unit, (name) => {
    selected = name;
    redraw();
  });
  const hereText = element("p", { class: "walker-here", role: "status", style: "grid-area: here" });
  const endText = element("p", { class: "walker-end", style: "grid-area: end" });
  const counter = createCounter(unit, table);
  const redraw = throttleToFrames(draw);
  const sliders = [
    createSettingSlider(unit.start, (value) => (settings.p = value)),
    createSettingSlider(unit.rate, (value) => (settings.rate = value)),
    ...unit.parameters.map((control) =>
      createSettingSlider(control, (value) => (settings.parameters[control.name] = value)),
    ),
  ];

  /** @param {Control} control @param {(value: number) => void} set called with the new value */
  function createSettingSlider(control, set) {
    const slider = createSlider({
      name: control.name,
      meaning: control.meaning,
      onChange(value) {
        set(value);
        redraw();
      },
    });
    return { control, slider };
  }

  function valueOf(/** @type {Control} */ { name }) {
    if (name === unit.start.name) return settings.p;
    return name === unit.rate.name ? settings.rate : settings.parameters[name];
  }

  /** Update the sliders. Hide those of parameters that only other estimators have. */
  function showSliders() {
    for (const { control, slider } of sliders) {
      slider.update(valueOf(control), [control.low, control.high], false, [control.low, control.high]);
      const isOther = Object.values(unit.estimators).some((tree) => walks.hasName(tree, control.name));
      const isIdle = isOther && !walks.hasName(estimators[selected], control.name);
      slider.element.classList.toggle("idle", isIdle);
    }
  }

  function draw() {
    showSliders();
    const all = Object.entries(estimators).map(([name, tree]) => {
      const found = walks.measureEstimator(unit, tree, settings);
      table.show(name, found);
      return { name, found };
    });
    const [{ found: now }] = all.filter(({ name }) => name === selected);
    const largest = Math.max(...all.map(({ found }) => Math.abs(found.mean)).filter(Number.isFinite));
    const ends = walks.findEnds(estimators[selected], settings);
    setText(hereText, `${say.describeEstimator(selected, now)} ${say.describeEnds(ends)}`);
    loss.draw(settings, now, largest, computeFirstDraws(), ends.rests);
    if (byMean) drawWalk();
    else drawRuns();
  }

  /** Return the estimate of the gradient at the current p for the first random number of each plotted run. */
  function computeFirstDraws() {
    const x = new Float64Array(unit.drawn).fill(walks.toLogit(settings.p));
    const draws = { [UNIFORM]: drawUniforms(unit.drawn, { seed: unit.seed, step: 0 }) };
    return [...evaluate(estimators[selected], { x, g: 1, draws, parameters: settings.parameters })];
  }

  function drawRuns() {
    const all = walks.simulateRuns(unit, estimators[selected], settings, unit.drawn);
    const mean = all.map((x) => x.reduce((sum, each) => sum + walks.sigmoid(each), 0) / x.length);
    runs.draw(all, mean, walks.descendByExact(unit, settings));
    setText(endText, say.describeRuns(walks.countEnds(all[unit.steps]), unit.drawn, unit.steps));
    counter.begin(estimators, settings, (name, counts) => {
      if (name === selected) setText(endText, say.describeRuns(counts, unit.runs, unit.steps));
    });
  }

  function drawWalk() {
    counter.stop();
    const walk = walks.descendByMean(unit, estimators[selected], settings).map(walks.sigmoid);
    runs.draw([], walk, walks.descendByExact(unit, settings));
    setText(endText, say.describeWalk(walk[walk.length - 1], walk.length - 1));
  }

  const modeSwitch = createModeSwitch((mean) => {
    byMean = mean;
    redraw();
  });
  followDrag(loss, (share) => {
    settings.p = Number(clampTo(share, unit.start.low, unit.start.high).toFixed(3));
    redraw();
  });
  const host = element(
    "section",
    { class: "walker", "aria-label": "The walker" },
    element("figure", { style: "grid-area: loss" }, loss.element, createLegend()),
    element(
      "div",
      { class: "instrument walker-controls", style: "grid-area: controls" },
      ...sliders.map(({ slider }) => slider.element),
    ),
    table.element,
    hereText,
    modeSwitch,
    element("figure", { style: "grid-area: runs" }, runs.element),
    endText,
  );
  const observer = new ResizeObserver(redraw);
  for (const panel of [loss, runs]) observer.observe(panel.element);
  signal.addEventListener("abort", () => {
    observer.disconnect();
    counter.stop();
  });
  return { element: host, follow: () => undefined };
}

/** @param {() => void} act */
function throttleToFrames(act) {
  let isScheduled = false;
  return () => {
    if (isScheduled) return;
    isScheduled = true;
    requestAnimationFrame(() => {
      isScheduled = false;
      act();
    });
  };
}

function createLegend() {
  const createEntry = (/** @type {string} */ look, /** @type {string} */ words) =>
    element("span", { class: `key ${look}` }, words);
  return element(
    "figcaption",
    {},
    createEntry("exact", "the way of the exact gradient"),
    createEntry("mean", "of the estimator’s mean"),
    createEntry("spread", "± its standard deviation, and single draws"),
  );
}

/** @param {(byMean: boolean) => void} onChange */
function createModeSwitch(onChange) {
  const group = createId();
  const createOption = (/** @type {string} */ text, /** @type {boolean} */ byMean) =>
    element(
      "label",
      {},
      element("input", { type: "radio", name: group, checked: !byMean, onchange: () => onChange(byMean) }),
      element("span", {}, text),
    );
  const legend = element("legend", {}, "Each step takes");
  return element(
    "fieldset",
    { class: "walker-moved", style: "grid-area: moved" },
    legend,
    createOption("a draw", false),
    createOption("the mean of all draws", true),
  );
}

/**
 * @param {string[]} labels @param {StochasticUnit} unit
 * @param {(name: string) => void} onChoose called with the name of the chosen estimator
 */
function createTable(labels, unit, onChoose) {
  const group = createId();
  const rows = labels.map((name, index) => {
    const radio = element("input", {
      type: "radio",
      name: group,
      checked: !index,
      onchange: () => onChoose(name),
    });
    const cells = [0, 1, 2, 3].map(() => element("td", {}));
    const head = element("th", { scope: "row" }, element("label", {}, radio, element("span", {}, name)));
    return { cells, row: element("tr", {}, head, ...cells) };
  });
  const heads = ["estimator", "mean", "bias", "SD", "above ½, %"].map((text) =>
    element("th", { scope: "col" }, text),
  );
  const total = unit.runs.toLocaleString("en-US");
  const caption = `At this p, and of ${total} runs how many end above p = ½`;
  const getRowCells = (/** @type {string} */ name) => rows[labels.indexOf(name)].cells;
  return {
    element: element(
      "table",
      { class: "estimators", style: "grid-area: table" },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...rows.map(({ row }) => row)),
    ),
    /** @param {string} name @param {import("./walk.js").Measured} measured */
    show(name, { mean, sd, exact }) {
      const texts = [say.formatGradient(mean), say.formatGradient(mean - exact), say.formatDeviation(sd)];
      texts.forEach((text, i) => setText(getRowCells(name)[i], text));
    },
    /**
     * Show which percentage of an estimator's runs ends above p = 1/2.
     * @param {string} name @param {string} text the percentage, or "" until it is known
     */
    count: (name, text) => setText(getRowCells(name)[3], text),
  };
}

/**
 * Create a counter that simulates all runs of each estimator in turn while the user is idle.
 * @param {StochasticUnit} unit @param {ReturnType<typeof createTable>} table
 */
function createCounter(unit, table) {
  let timer = 0;
  const stop = () => clearTimeout(timer);
  return {
    stop,
    /**
     * @param {ReturnType<typeof walks.resolveEstimators>} estimators @param {Settings} settings
     * @param {(name: string, counts: {above: number, below: number}) => void} onCount called with the name of an
     *   estimator and its counts
     */
    begin(estimators, settings, onCount) {
      stop();
      const waiting = Object.keys(estimators);
      for (const name of waiting) table.count(name, "");
      const countNext = () => {
        const name = waiting.shift();
        if (!name) return;
        const all = walks.simulateRuns(unit, estimators[name], settings, unit.runs);
        const counts = walks.countEnds(all[unit.steps]);
        table.count(name, say.formatShare(counts.above / unit.runs));
        onCount(name, counts);
        timer = window.setTimeout(countNext);
      };
      timer = window.setTimeout(countNext, IDLE_MS);
    },
  };
}

/**
 * Follow the pointer while it is pressed, sideways only, because vertical drags scroll the page.
 * @param {ReturnType<typeof createLossPanel>} panel
 * @param {(share: number) => void} onMove called with its position as a fraction of the panel's width
 */
function followDrag({ element: picture, across }, onMove) {
  picture.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    if (event.button) return;
    picture.setPointerCapture(event.pointerId);
    if (event.pointerType === "mouse") onMove(across(event.clientX));
  });
  picture.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (picture.hasPointerCapture(event.pointerId)) onMove(across(event.clientX));
  });
}
