// The live charts and nets of a lesson, and links that open them on their own pages.

import { toQuery } from "../choice/address.js";
import { getControls, getEntries, widenBounds } from "../choice/choice.js";
import { element, setAttribute } from "../elements/dom.js";
import { createEquilibria } from "../explore/sections/equilibria.js";
import { followColours } from "../explore/stage/colours.js";
import { addSliders } from "../explore/stage/sliders.js";
import { createStage } from "../explore/stage/stage.js";
import { parseMessage } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { getControlValue } from "../formula/controls.js";
import { describeParameters, describeRun, enterTraining } from "../train/state/tasks.js";

/**
 * A chart or net of a lesson: its page, with settings as a link and as a message.
 * @typedef {{path: string, query: string, choice: *}} Scene
 */
/**
 * A layer over a chart. ``follow``: called with the positions of its panels; ``over``: returns further curves;
 * ``curves``: returns those drawn by hand.
 * @typedef {{element: HTMLElement, follow: (frame: import("../chart/scene/panels.js").Frame) => void, over?:
 *   import("../chart/scene/picture.js").GetCurves, curves?: () => import("../chart/scene/picture.js").Sketch[]}} Layer
 */
/** The settings of a lesson's chart or net. @typedef {ReturnType<typeof createStore>} Store */

const PACE_ON_STAGE = "10"; // in steps per second: slow enough to talk about

/**
 * Create empty elements for a lesson's chart and for the equilibria of a learning parameter. The chart's element has
 * the class ``chart-host`` from the start: added later, it would change colours and so redraw the chart.
 */
export function createHosts() {
  const parts = ["words", "chart chart-host", "strip flex-wrap"].map((name) =>
    element("div", { class: name }),
  );
  const stage = element("div", { class: "stage" }, ...parts);
  const resting = element("div", { class: "panel resting", hidden: true });
  return element("div", { class: "instrument watch" }, stage, resting);
}

/** Return those of a lesson's scenes that are charts, not nets. @param {Scene[]} scenes @returns {Scene[]} */
export function getCurveScenes(scenes) {
  return scenes.filter(({ path }) => path === "/");
}

/**
 * Show a lesson's live chart in the elements of ``createHosts``. Returns its store, and a function to remove it.
 * @param {HTMLElement} host
 * @param {{scene: Scene, layer: Layer|null, leastRange?: [number, number], at?: number, secret: boolean, reach: *}}
 *   options ``layer``: a layer over the curves; ``at``: x of the probe; ``secret``: whether the answer is still secret, so
 *   that only the op is visible, unconfirmed by torch
 */
export function showScene(host, { scene, layer, leastRange, at, secret, reach }) {
  const store = createStore();
  const choice = parseMessage(scene.choice);
  store.change(
    secret ? { ...choice, rules: choice.rules.map((rule) => ({ ...rule, hidden: true })) } : choice,
  );
  const end = new AbortController();
  const find = (/** @type {string} */ name) => /** @type {HTMLElement} */ (host.querySelector(`.${name}`));
  const { colours } = followColours(host, () => parts.forEach((part) => part.refresh()), end.signal);
  const stage = createStage(
    { words: find("words"), chart: find("chart") },
    {
      ...{ hasData: !secret, ...reach, store, colours, leastRange },
      confirm: secret ? null : reach.confirm,
      isLabelled: true,
      onFrame: layer?.follow,
      over: layer?.over,
      sketches: layer?.curves,
    },
  );
  const rest =
    choice.learns && !secret ? [createEquilibria(find("resting"), { ...reach, store, colours })] : [];
  const parts = [stage, ...rest];
  const stop = addSliders(find("strip"), store);
  if (layer) find("chart-place").append(layer.element);
  if (typeof at === "number") stage.pin(at);
  return {
    store,
    destroy() {
      end.abort();
      stop();
      parts.forEach((part) => part.destroy());
      for (const name of ["words", "strip", "resting"]) find(name).replaceChildren();
    },
  };
}

/** Create the settings of one of a lesson's nets. @param {Scene} scene */
export function createNetStore(scene) {
  const store = createStore();
  store.change(enterTraining(parseMessage(scene.choice), "link"));
  return store;
}

/**
 * Give a net the values that a lesson's chart shows of the parameters that the lesson sets for both.
 * @param {Store} store of the net @param {import("../choice/choice.js").Choice} chart its settings
 * @param {import("../choice/store.js").Change} change
 */
export function followChart(store, chart, change) {
  const { current: net } = store;
  const shown = getControls(chart).filter(({ name }) => name in net.parameters);
  const values = shown.map((control) => [control.name, getControlValue(chart.parameters, control)]);
  const parameters = { ...net.parameters, ...Object.fromEntries(values) };
  if (shown.length) store.change(widenBounds({ ...net, parameters }), change);
}

/**
 * Show one of a lesson's nets, and start its training. Returns a function to remove it.
 * @param {HTMLElement} host
 * @param {{store: Store, presenting: boolean, reach: *, onOver: () => void, createTraining:
 *   import("../train/page/small.js").CreateSmallTraining}} options ``presenting``: whether presentation mode is on, in
 *   which training is slower; ``onOver``: called when a run is over
 */
export function showNet(host, { store, presenting, reach, onOver, createTraining }) {
  store.change(setStagePace(store.current, presenting));
  return createTraining(host, store, reach, onOver).destroy;
}

/** Name the op and rules of a chart or net. @param {import("../choice/choice.js").Choice} choice */
export function describeChoice(choice) {
  const { op, rules } = getEntries(choice);
  return `${op.label} with ${rules.map((rule) => rule.label).join(", ")}`;
}

/**
 * Name the op, rules and set parameters of a net, and describe its run.
 * @param {import("../choice/choice.js").Choice} choice @param {boolean} presenting whether it is slower, on a stage
 */
export const describeNet = (choice, presenting) =>
  `${[describeChoice(choice), ...describeParameters(choice)].join(", ")}: ${describeRun(setStagePace(choice, presenting))}`;

/**
 * Return training settings with a slow pace for presentation mode, unless they contain a pace.
 * @param {*} choice @param {boolean} presenting
 */
function setStagePace(choice, presenting) {
  return presenting ? { ...choice, training: { pace: PACE_ON_STAGE, ...choice.training } } : choice;
}

/**
 * Create links that open a lesson's charts and nets on their own pages, with the reader's changes of the displayed
 * chart.
 * @param {Scene[]} scenes
 * @param {{address: (name: string) => string, embedded: boolean, presenting: () => boolean}} page ``address``: makes
 *   addresses; ``embedded``: whether Learn is inside another site
 */
export function createLinks(scenes, { address, embedded, presenting }) {
  const links = scenes.map((scene) => {
    const page = scene.path === "/" ? "Explore" : "Train";
    const names = describeChoice(parseMessage(scene.choice));
    const isOne = scenes.filter(({ path }) => path === scene.path).length === 1;
    return element(
      "a",
      { class: page === "Explore" && "to-chart", target: embedded ? "_blank" : "_self", title: names },
      `Open in ${page}${isOne ? "" : `: ${getEntries(parseMessage(scene.choice)).op.label}`}`,
      element("small", {}, names),
    );
  });
  const point = (/** @type {number} */ index, /** @type {string} */ query) => {
    const stage = presenting() ? "&present=1" : "";
    setAttribute(links[index], "href", `${address(scenes[index].path.slice(1))}?${query}${stage}`);
  };
  const choiceOf = (/** @type {Scene} */ { path, choice }) =>
    path === "/train"
      ? setStagePace(enterTraining(parseMessage(choice), "link"), presenting())
      : parseMessage(choice);
  const show = () => scenes.forEach((scene, index) => point(index, toQuery(choiceOf(scene))));
  show();
  return {
    elements: links,
    show,
    /** @param {Scene} scene @param {ReturnType<typeof createStore>} store */
    follow: (scene, store) => store.subscribe((choice) => point(scenes.indexOf(scene), toQuery(choice))),
  };
}
