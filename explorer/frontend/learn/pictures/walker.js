// A unit that draws and walks: its chance is dragged along the mean loss, its estimator chosen, its runs drawn.

import { element, freshId, setAttribute, setText } from "../../elements/dom.js";
import { createSlider } from "../../elements/slider.js";
import { clampTo } from "../../formula/numbers.js";
import { drawUniforms } from "../../formula/draws.js";
import { evaluate, UNIFORM } from "../../formula/evaluation.js";
import { createLossPanel, createRunsPanel } from "./walk-panels.js";
import * as say from "./walk-words.js";
import {
  endsOf,
  exactWalk,
  logit,
  meanWalk,
  measured,
  names,
  runsOf,
  settledEstimators,
  countsOf,
  sigmoid,
} from "./walk.js";

/** @import { Control, Settings, Walker } from "./walk.js" */

const REST_MS = 250; // of a hand, before all runs are counted

/**
 * @param {Walker} walker
 * @param {{signal: AbortSignal}} options
 * @returns {import("./pictures.js").Picture}
 */
export function createWalker(walker, { signal }) {
  const estimators = settledEstimators(walker);
  const settings = /** @type {Settings} */ ({
    p: walker.start.default,
    rate: walker.rate.default,
    parameters: Object.fromEntries(walker.parameters.map(({ name, default: usual }) => [name, usual])),
  });
  let chosen = Object.keys(estimators)[0];
  let byMean = false;
  const loss = createLossPanel(walker);
  const runs = createRunsPanel(walker);
  const table = createTable(Object.keys(estimators), walker, (name) => {
    chosen = name;
    redraw();
  });
  const here = element("p", { class: "walker-here", role: "status" });
  const end = element("p", { class: "walker-end" });
  const counting = createCount(walker, table);
  const redraw = inFrames(draw);
  const sliders = [
    sliderOf(walker.start, (value) => (settings.p = value)),
    sliderOf(walker.rate, (value) => (settings.rate = value)),
    ...walker.parameters.map((control) =>
      sliderOf(control, (value) => (settings.parameters[control.name] = value)),
    ),
  ];

  /** @param {Control} control @param {(value: number) => void} set */
  function sliderOf(control, set) {
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
    if (name === walker.start.name) return settings.p;
    return name === walker.rate.name ? settings.rate : settings.parameters[name];
  }

  /** The sliders at their values; one that the chosen estimator has no use for is away. */
  function showSliders() {
    for (const { control, slider } of sliders) {
      slider.update(valueOf(control), [control.low, control.high], false, [control.low, control.high]);
      const isOther = Object.values(walker.estimators).some((tree) => names(tree, control.name));
      const isIdle = isOther && !names(estimators[chosen], control.name);
      slider.element.classList.toggle("idle", isIdle);
    }
  }

  function draw() {
    showSliders();
    const all = Object.entries(estimators).map(([name, tree]) => {
      const found = measured(walker, tree, settings);
      table.show(name, found);
      return { name, found };
    });
    const [{ found: now }] = all.filter(({ name }) => name === chosen);
    const largest = Math.max(...all.map(({ found }) => Math.abs(found.mean)).filter(Number.isFinite));
    const ends = endsOf(estimators[chosen], settings);
    setText(here, `${say.hereWords(chosen, now)} ${say.endWords(ends)}`);
    loss.draw(settings, now, largest, firstDraws(), ends.rests);
    if (byMean) drawWalk();
    else drawRuns();
  }

  /** What the estimator returns for the first draw of each run that is drawn. */
  function firstDraws() {
    const x = new Float64Array(walker.drawn).fill(logit(settings.p));
    const draws = { [UNIFORM]: drawUniforms(walker.drawn, { seed: walker.seed, step: 0 }) };
    return [...evaluate(estimators[chosen], { x, g: 1, draws, parameters: settings.parameters })];
  }

  function drawRuns() {
    const all = runsOf(walker, estimators[chosen], settings, walker.drawn);
    const mean = all.map((x) => x.reduce((sum, each) => sum + sigmoid(each), 0) / x.length);
    runs.draw(all, mean, exactWalk(walker, settings));
    setText(end, say.runWords(countsOf(all[walker.steps]), walker.drawn, walker.steps));
    counting.begin(estimators, settings, (name, counts) => {
      if (name === chosen) setText(end, say.runWords(counts, walker.runs, walker.steps));
    });
  }

  function drawWalk() {
    counting.stop();
    const walk = meanWalk(walker, estimators[chosen], settings).map(sigmoid);
    runs.draw([], walk, exactWalk(walker, settings));
    setText(end, say.walkWords(walk[walk.length - 1], walk.length - 1));
  }

  const moved = createMoved((mean) => {
    byMean = mean;
    redraw();
  });
  followDrag(loss, (share) => {
    settings.p = Number(clampTo(share, walker.start.low, walker.start.high).toFixed(3));
    redraw();
  });
  const host = element(
    "section",
    { class: "walker", "aria-label": "The walker" },
    element("figure", {}, loss.element, legend()),
    element("div", { class: "instrument walker-controls" }, ...sliders.map(({ slider }) => slider.element)),
    table.element,
    here,
    moved,
    element("figure", {}, runs.element),
    end,
  );
  const resized = new ResizeObserver(redraw);
  for (const panel of [loss, runs]) resized.observe(panel.element);
  signal.addEventListener("abort", () => {
    resized.disconnect();
    counting.stop();
  });
  return { element: host, follow: () => undefined };
}

/** Call it once in the next frame, however often it was asked for. @param {() => void} act */
function inFrames(act) {
  let waits = false;
  return () => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      act();
    });
  };
}

/** The lines of the upper panel, in words. */
function legend() {
  const entry = (/** @type {string} */ look, /** @type {string} */ words) =>
    element("span", { class: `key ${look}` }, words);
  return element(
    "figcaption",
    {},
    entry("exact", "the way of the exact gradient"),
    entry("mean", "of the estimator’s mean"),
    entry("spread", "± its standard deviation, and single draws"),
  );
}

/** A switch between runs by single draws and the walk by the mean. @param {(byMean: boolean) => void} onChange */
function createMoved(onChange) {
  const group = freshId();
  const option = (/** @type {string} */ text, /** @type {boolean} */ byMean) =>
    element(
      "label",
      {},
      element("input", { type: "radio", name: group, checked: !byMean, onchange: () => onChange(byMean) }),
      element("span", {}, text),
    );
  const legend = element("legend", {}, "Each step takes");
  return element(
    "fieldset",
    { class: "walker-moved" },
    legend,
    option("a draw", false),
    option("the mean of all draws", true),
  );
}

/**
 * A row an estimator, of which one is chosen.
 * @param {string[]} labels
 * @param {Walker} walker
 * @param {(name: string) => void} onChoose
 */
function createTable(labels, walker, onChoose) {
  const group = freshId();
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
  const many = walker.runs.toLocaleString("en-US");
  const caption = `At this p, and of ${many} runs how many end above p = ½`;
  const cellsOf = (/** @type {string} */ name) => rows[labels.indexOf(name)].cells;
  return {
    element: element(
      "table",
      { class: "estimators" },
      element("caption", {}, caption),
      element("thead", {}, element("tr", {}, ...heads)),
      element("tbody", {}, ...rows.map(({ row }) => row)),
    ),
    /** @param {string} name @param {import("./walk.js").Measured} measured */
    show(name, { mean, sd, exact }) {
      const texts = [say.gradientText(mean), say.gradientText(mean - exact), say.spreadText(sd)];
      texts.forEach((text, i) => setText(cellsOf(name)[i], text));
    },
    /** @param {string} name @param {string} text "" while it is not known */
    count: (name, text) => setText(cellsOf(name)[3], text),
  };
}

/**
 * The runs of all estimators, counted one estimator after the other once the hand rests.
 * @param {Walker} walker
 * @param {ReturnType<typeof createTable>} table
 */
function createCount(walker, table) {
  let timer = 0;
  const stop = () => clearTimeout(timer);
  return {
    stop,
    /**
     * @param {ReturnType<typeof settledEstimators>} estimators
     * @param {Settings} settings
     * @param {(name: string, counts: {above: number, below: number}) => void} onCount
     */
    begin(estimators, settings, onCount) {
      stop();
      const left = Object.keys(estimators);
      for (const name of left) table.count(name, "");
      const next = () => {
        const name = left.shift();
        if (!name) return;
        const all = runsOf(walker, estimators[name], settings, walker.runs);
        const counts = countsOf(all[walker.steps]);
        table.count(name, say.shareText(counts.above / walker.runs));
        onCount(name, counts);
        timer = window.setTimeout(next);
      };
      timer = window.setTimeout(next, REST_MS);
    },
  };
}

/**
 * Follow a pointer that drags the ball sideways; up and down the page scrolls.
 * @param {ReturnType<typeof createLossPanel>} panel
 * @param {(share: number) => void} onMove
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
