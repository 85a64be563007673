// Entry point of Streamlit pages, which call it with Python's data to mount the parts of the instrument.

import { getAttended, BEGIN_EVENT, getLed } from "../class/membership.js";
import { setDocument } from "../choice/entries.js";
import { prepareExplore } from "../choice/learning-panel.js";
import { createButtons } from "./heading.js";
import { parseMessage } from "../choice/message.js";
import { createPage } from "./page.js";
import { pageReachOf, reachOf } from "./reach.js";
import { clear, createServed, waitUntilIdle, moveInto } from "./served-page.js";
import { element } from "../elements/dom.js";
import { showNotices } from "../elements/notices.js";
import { fetchDocument, toServerUrl } from "../choice/server.js";
import { closeConnectionDialogs } from "./connection-dialog.js";

/**
 * The arguments of a Streamlit component, passed when it appears and again whenever its data change.
 * @typedef {{parentElement: HTMLElement, data: *}} Component
 * @typedef {(root: HTMLElement, component: Component) => () => void} Make mounts a part; returns a function that ends it
 */

/** The loaders of the parts by the selector of their host. @type {[string, () => Promise<Make>][]} */
const PARTS = [
  [".heading", async () => mountHeading],
  [".notices", async () => mountNotices],
  [".lesson", loadLearn],
  [".study", loadStudy],
  [".training", loadTrain],
  [".instrument", loadExplore],
];

/** The functions that end the parts, by host. @type {WeakMap<HTMLElement, () => void>} */
const mounted = new WeakMap();
/** The instrument served with the page, until Streamlit provides a host. @type {ReturnType<typeof createServed>} */
let served = null;
const ready = fetchDocument().then((found) => {
  setDocument(found);
  served = createServed();
});
closeConnectionDialogs();

/** Mount a part, unless its host is gone or occupied. @param {Component} component */
export async function mount(component) {
  const host = component.parentElement;
  const root = /** @type {HTMLElement|null} */ (host.querySelector(".instrument, .lesson, .notices"));
  const load = PARTS.find(([name]) => root?.matches(name))?.[1];
  if (!root || !load) return;
  const [make] = await Promise.all([load(), ready]);
  if (root.isConnected && !mounted.has(host)) mounted.set(host, make(root, component));
}

/**
 * Unmount a part at the end of a call by Streamlit, if its host has left the page.
 *
 * With other data or colours Streamlit calls again for the same host, and may end the previous call after that.
 * @param {HTMLElement} host
 */
export function ended(host) {
  if (!host.isConnected) unmount(host);
}

/** End the part of a host. @param {HTMLElement} host */
export function unmount(host) {
  mounted.get(host)?.();
  mounted.delete(host);
}

/** Mount the heading. @type {Make} */
function mountHeading(root) {
  const buttons = createButtons(/** @type {HTMLElement} */ (root.querySelector(".copy")));
  const end = new AbortController();
  if (getAttended() || getLed()) showClass();
  else addEventListener(BEGIN_EVENT, showClass, { once: true, signal: end.signal });

  async function showClass() {
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

/** Mount the notices. @type {Make} */
function mountNotices(root, { data }) {
  showNotices(root, data.notices);
  return () => root.replaceChildren();
}

/** Load Explore, once the served instrument can be moved. @returns {Promise<Make>} */
async function loadExplore() {
  await ready;
  if (served) await waitUntilIdle();
  return mountExplore;
}

/** Mount Explore: adopt the served instrument, or create one. @type {Make} */
function mountExplore(root, { data }) {
  const page = served ?? createPage(root, parseMessage(data.choice), pageReachOf(data), prepareExplore);
  served = null;
  if (page.root !== root) moveInto(page.root, root);
  page.join();
  return page.destroy;
}

/** Load Train. @returns {Promise<Make>} */
async function loadTrain() {
  const [{ loadTraining }, { enterTraining: entered }] = await Promise.all([
    import("../train/page/controller.js"),
    import("../train/state/tasks.js"),
    ready,
  ]);
  return makeWorkPage(await loadTraining(), entered);
}

/** Load Study. @returns {Promise<Make>} */
async function loadStudy() {
  const [{ createStudy }, { enterStudy: enteredStudy }] = await Promise.all([
    import("../study/study.js"),
    import("../study/settings.js"),
  ]);
  return makeWorkPage(createStudy, enteredStudy);
}

/**
 * Return the function that mounts a page whose computations run on the server.
 * @param {import("../explore/page/instrument.js").CreateTraining} createTraining
 * @param {Parameters<typeof createPage>[3]} enter
 * @returns {Make}
 */
function makeWorkPage(createTraining, enter) {
  return (root, { data }) => {
    leaveServed();
    const reach = { ...pageReachOf(data), createTraining };
    const page = createPage(root, parseMessage(data.choice), reach, enter);
    page.join();
    return page.destroy;
  };
}

/** Load Learn. @returns {Promise<Make>} */
async function loadLearn() {
  const [{ createCourse }, { classes }, { loadTraining }] = await Promise.all([
    import("../learn/course.js"),
    import("../learn/together.js"),
    import("../train/page/controller.js"),
    ready,
  ]);
  const createTraining = await loadTraining();
  const nothing = { sections: {}, examples: [] };
  return (root, { data }) => {
    leaveServed();
    const instrument = { ...reachOf(data), createTraining, ...nothing };
    const reach = { address: toServerUrl, instrument, classes };
    return createCourse(root, data.course, reach).destroy;
  };
}

/** Remove the served instrument when another page comes first. */
function leaveServed() {
  served?.destroy();
  served = null;
  clear();
}
