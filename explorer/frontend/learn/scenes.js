// The live part of a lesson: the same instrument as on Explore, and links that open what it displays.

import { toQuery } from "../choice/address.js";
import { getEntries } from "../choice/choice.js";
import { element, setAttribute } from "../elements/dom.js";
import { createInstrument } from "../explore/page/instrument.js";
import { parseMessage } from "../choice/message.js";
import { createStore } from "../choice/store.js";
import { entered } from "../train/state/tasks.js";

/** A page in one state. @typedef {{path: string, query: string, choice: *}} Scene */
/**
 * A layer over a chart, told where its panels lie; ``over`` gives curves that the chart is to draw for it.
 * @typedef {{element: HTMLElement, follow: (frame: import("../chart/scene/panels.js").Frame) => void,
 *   over?: import("../chart/scene/picture.js").Over}} Layer
 */
/** The store of its choice. @typedef {ReturnType<typeof createStore>} Store */

const PACE_ON_STAGE = "10"; // steps a second, so that there is time to talk

/**
 * The hosts that an instrument fills: curves, and cards. That of the chart is its host from the start: where it
 * becomes one on the page, its colours change, with which the chart is drawn anew.
 */
export function createHosts() {
  const parts = ["words", "chart chart-host", "strip"].map((name) => element("div", { class: name }));
  return {
    watch: element("div", { class: "instrument watch" }, element("div", { class: "stage" }, ...parts)),
    list: element(
      "div",
      { class: "instrument alone" },
      element("div", { class: "cards" }),
      element("div", { class: "panel resting", hidden: true }),
    ),
  };
}

/** @param {Scene[]} scenes @returns {Scene[]} those of curves */
export function curvesOf(scenes) {
  return scenes.filter(({ path }) => path === "/");
}

/**
 * The instrument of a lesson's curves in ``host``, which holds its hosts. Before the answer it shows the
 * op alone, and nobody says what torch returns.
 * @param {HTMLElement} host
 * @param {{scene: Scene, layer: Layer|null, leastRange?: [number, number], secret: boolean, reach: *}} options
 *   ``layer`` is laid over the curves
 */
export function showScene(host, { scene, layer, leastRange, secret, reach }) {
  const store = createStore();
  const choice = parseMessage(scene.choice);
  store.change(
    secret ? { ...choice, rules: choice.rules.map((rule) => ({ ...rule, hidden: true })) } : choice,
  );
  const instrument = createInstrument(host, store, {
    ...reach,
    confirm: secret ? null : reach.confirm,
    sizes: false, // a lesson's rules are those it tells of, and their sizes may be its answer
    leastRange,
    onFrame: layer?.follow,
    over: layer?.over,
  });
  if (layer) host.querySelector(".chart-place")?.append(layer.element);
  return { store, destroy: instrument.destroy };
}

/**
 * A net of a lesson in ``host``: the same as on the page of trainings, ready to be started.
 * @param {HTMLElement} host
 * @param {{scene: Scene, presenting: boolean, skeleton: string, reach: *}} options
 */
export function showNet(host, { scene, presenting, skeleton, reach }) {
  const store = createStore();
  store.change(paced(entered(parseMessage(scene.choice), "link"), presenting));
  host.replaceChildren(document.createRange().createContextualFragment(skeleton));
  const training = /** @type {HTMLElement} */ (host.querySelector(".training"));
  return { store, destroy: createInstrument(training, store, reach).destroy };
}

/**
 * A choice whose training goes slowly on a stage, unless its pace is given.
 * @param {*} choice
 * @param {boolean} presenting
 */
function paced(choice, presenting) {
  return presenting ? { ...choice, training: { pace: PACE_ON_STAGE, ...choice.training } } : choice;
}

/**
 * Links to the pages that the scenes are of; that to the curves shown follows what is changed in them.
 * @param {Scene[]} scenes
 * @param {{address: (name: string) => string, embedded: boolean, presenting: () => boolean}} page
 */
export function createLinks(scenes, { address, embedded, presenting }) {
  const links = scenes.map((scene) => {
    const { op, rules } = getEntries(parseMessage(scene.choice));
    const page = scene.path === "/" ? "Open in Explore" : "Open in Train";
    const names = `${op.label} with ${rules.map((rule) => rule.label).join(", ")}`;
    return element(
      "a",
      { target: embedded ? "_blank" : "_self", title: names },
      page,
      element("small", {}, names),
    );
  });
  const point = (/** @type {number} */ index, /** @type {string} */ query) => {
    setAttribute(links[index], "href", `${address(scenes[index].path.slice(1))}?${query}`);
  };
  const choiceOf = (/** @type {Scene} */ { path, choice }) =>
    path === "/train" ? paced(entered(parseMessage(choice), "link"), presenting()) : parseMessage(choice);
  const show = () => scenes.forEach((scene, index) => point(index, toQuery(choiceOf(scene))));
  show();
  return {
    elements: links,
    /** Presenting has begun or ended. */
    show,
    /** @param {Scene} scene @param {ReturnType<typeof createStore>} store */
    follow: (scene, store) => store.subscribe((choice) => point(scenes.indexOf(scene), toQuery(choice))),
  };
}
