// The parts of the instrument on a page of Streamlit, which calls them with Python's data.

import { attended, BEGUN, led } from "../class/membership.js";
import { setDocument } from "../choice/entries.js";
import { prepareExplore } from "../choice/learning-panel.js";
import { createButtons } from "./heading.js";
import { parseMessage } from "../choice/message.js";
import { createPage } from "./page.js";
import { pageReachOf, reachOf } from "./reach.js";
import { clear, createServed, letGo, takeOver } from "./served.js";
import { element } from "../elements/dom.js";
import { showNotices } from "../elements/notices.js";
import { fetchDocument, toServerUrl } from "../choice/server.js";
import { stayUncovered } from "./uncovered.js";

/**
 * The arguments of a Streamlit component, once when it appears and again with all new data.
 * @typedef {{parentElement: HTMLElement, data: *}} Component
 * @typedef {(root: HTMLElement, component: Component) => () => void} Make makes a part; returns what ends it
 */

/**
 * Each part by the class of its host; its modules are loaded by then.
 * @type {[string, () => Promise<Make>][]}
 */
const PARTS = [
  [".heading", async () => heading],
  [".notices", async () => noticed],
  [".lesson", lessons],
  [".study", studying],
  [".training", training],
  [".instrument", exploring],
];

/** @type {WeakMap<HTMLElement, () => void>} what ends each part */
const mounted = new WeakMap();
/** The instrument served with the page, until Streamlit has a host for it. @type {ReturnType<typeof createServed>} */
let served = null;
const ready = fetchDocument().then((found) => {
  setDocument(found);
  served = createServed();
});
stayUncovered();

/** @param {Component} component */
export async function mount(component) {
  const host = component.parentElement;
  const root = /** @type {HTMLElement|null} */ (host.querySelector(".instrument, .lesson, .notices"));
  const load = PARTS.find(([name]) => root?.matches(name))?.[1];
  if (!root || !load) return;
  const [make] = await Promise.all([load(), ready]);
  if (root.isConnected && !mounted.has(host)) mounted.set(host, make(root, component));
}

/**
 * A call of Streamlit's has ended. With other data or colours it calls anew for the same host, and ends the call
 * before that as well, perhaps after it: what is there stays until its host has left the page.
 * @param {HTMLElement} host
 */
export function ended(host) {
  if (!host.isConnected) unmount(host);
}

/** @param {HTMLElement} host */
export function unmount(host) {
  mounted.get(host)?.();
  mounted.delete(host);
}

/** @type {Make} */
function heading(root) {
  const buttons = createButtons(/** @type {HTMLElement} */ (root.querySelector(".copy")));
  const end = new AbortController();
  if (attended() || led()) joined();
  else addEventListener(BEGUN, joined, { once: true, signal: end.signal });

  async function joined() {
    const { createClassHeading } = await import("../class/heading.js");
    if (end.signal.aborted) return;
    const host = element("span", { class: "in-class", hidden: true });
    root.append(host);
    end.signal.addEventListener("abort", createClassHeading(host).destroy);
  }

  return () => {
    buttons.destroy();
    end.abort();
  };
}

/** @type {Make} */
function noticed(root, { data }) {
  showNotices(root, data.notices);
  return () => root.replaceChildren();
}

/** @returns {Promise<Make>} */
async function exploring() {
  await ready;
  if (served) await letGo();
  return explore;
}

/** @type {Make} */
function explore(root, { data }) {
  const page = served ?? createPage(root, parseMessage(data.choice), pageReachOf(data), prepareExplore);
  served = null;
  if (page.root !== root) takeOver(page.root, root);
  page.join();
  return page.destroy;
}

/** @returns {Promise<Make>} */
async function training() {
  const [{ loadTraining }, { enterTraining: entered }] = await Promise.all([
    import("../train/page/controller.js"),
    import("../train/state/tasks.js"),
    ready,
  ]);
  return working(await loadTraining(), entered);
}

/** @returns {Promise<Make>} */
async function studying() {
  const [{ createStudy }, { enterStudy: enteredStudy }] = await Promise.all([
    import("../study/study.js"),
    import("../study/settings.js"),
  ]);
  return working(createStudy, enteredStudy);
}

/**
 * A page on which the server works for the visitor.
 * @param {import("../explore/page/instrument.js").CreateTraining} createTraining
 * @param {Parameters<typeof createPage>[3]} enter
 * @returns {Make}
 */
function working(createTraining, enter) {
  return (root, { data }) => {
    leaveServed();
    const reach = { ...pageReachOf(data), createTraining };
    const page = createPage(root, parseMessage(data.choice), reach, enter);
    page.join();
    return page.destroy;
  };
}

/** @returns {Promise<Make>} */
async function lessons() {
  const [{ createCourse }, { classes }, { loadTraining }] = await Promise.all([
    import("../learn/course.js"),
    import("../learn/together.js"),
    import("../train/page/controller.js"),
    ready,
  ]);
  const createTraining = await loadTraining();
  const none = { sections: {}, examples: [] };
  return (root, { data }) => {
    leaveServed();
    const instrument = { ...reachOf(data), createTraining, ...none };
    const reach = { address: toServerUrl, instrument, classes };
    return createCourse(root, data.course, reach).destroy;
  };
}

/** Another page has come first. */
function leaveServed() {
  served?.destroy();
  served = null;
  clear();
}
