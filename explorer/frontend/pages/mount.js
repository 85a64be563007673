// The entry point for Streamlit's components, which call it with data from Python to show parts of a page.

import { getAttended, BEGIN_EVENT, getLed } from "../class/membership.js";
import { setDocument } from "../choice/entries.js";
import { prepareExplore } from "../choice/learning-panel.js";
import { createButtons } from "./heading.js";
import { parseMessage } from "../choice/message.js";
import { createPage } from "./page.js";
import { makePageReach, makeReach } from "./reach.js";
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

/**
 * Functions that load the parts of a page, by the CSS selector of the element that holds the part.
 * @type {[string, () => Promise<Make>][]}
 */
const PARTS = [
  [".heading", async () => mountHeading],
  [".notices", async () => mountNotices],
  [".lesson", loadLearn],
  [".study", loadStudy],
  [".training", loadTrain],
  [".instrument", loadExplore],
];

/**
 * Functions that remove the mounted parts of a page, by the element that holds the part.
 * @type {WeakMap<HTMLElement, () => void>}
 */
const mounted = new WeakMap();
/**
 * The chart that came with the page's HTML, until Streamlit provides its element.
 * @type {ReturnType<typeof createServed>}
 */
let served = null;
const ready = fetchDocument().then((found) => {
  setDocument(found);
  served = createServed();
});
closeConnectionDialogs();

/**
 * Mount a part of the page in Streamlit's element. Nothing happens if the element is gone or already has the part.
 * @param {Component} component
 */
export async function mount(component) {
  const host = component.parentElement;
  const root = /** @type {HTMLElement|null} */ (host.querySelector(".instrument, .lesson, .notices"));
  const load = PARTS.find(([name]) => root?.matches(name))?.[1];
  if (!root || !load) return;
  const [make] = await Promise.all([load(), ready]);
  if (root.isConnected && !mounted.has(host)) mounted.set(host, make(root, component));
}

/**
 * Unmount a part of the page when Streamlit ends its call, if the element has left the page. With other data or
 * colours Streamlit calls again for the same element, and may end the previous call after that.
 * @param {HTMLElement} host
 */
export function ended(host) {
  if (!host.isConnected) unmount(host);
}

/** Remove the part of the page that is mounted in an element. @param {HTMLElement} host */
export function unmount(host) {
  mounted.get(host)?.();
  mounted.delete(host);
}

/** Mount the page's heading with its buttons. @type {Make} */
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

/** Mount the messages about unusable values in the page's link. @type {Make} */
function mountNotices(root, { data }) {
  showNotices(root, data.notices);
  return () => root.replaceChildren();
}

/** Load the page Explore as soon as the chart that came with the page can be moved. @returns {Promise<Make>} */
async function loadExplore() {
  await ready;
  if (served) await waitUntilIdle();
  return mountExplore;
}

/** Mount the page Explore, with the chart that came with the page or with a new one. @type {Make} */
function mountExplore(root, { data }) {
  const page = served ?? createPage(root, parseMessage(data.choice), makePageReach(data), prepareExplore);
  served = null;
  if (page.root !== root) moveInto(page.root, root);
  page.join();
  return page.destroy;
}

/** Load the modules of the page Train. @returns {Promise<Make>} */
async function loadTrain() {
  const [{ createTraining }, { enterTraining: entered }] = await Promise.all([
    import("../train/page/controller.js"),
    import("../train/state/tasks.js"),
    ready,
  ]);
  return makeWorkPage(createTraining, entered);
}

/** Load the modules of the page Study. @returns {Promise<Make>} */
async function loadStudy() {
  const [{ createStudy }, { enterStudy: enteredStudy }] = await Promise.all([
    import("../study/study.js"),
    import("../study/settings.js"),
  ]);
  return makeWorkPage(createStudy, enteredStudy);
}

/**
 * Return a function that mounts a page whose computations run on the server, such as Train.
 * @param {import("../explore/page/instrument.js").CreateTraining} createTraining
 * @param {Parameters<typeof createPage>[3]} enter @returns {Make}
 */
function makeWorkPage(createTraining, enter) {
  return (root, { data }) => {
    leaveServed();
    const reach = { ...makePageReach(data), createTraining };
    const page = createPage(root, parseMessage(data.choice), reach, enter);
    page.join();
    return page.destroy;
  };
}

/** Load the modules of the page Learn. @returns {Promise<Make>} */
async function loadLearn() {
  const [{ createCourse }, { classes }] = await Promise.all([
    import("../learn/course.js"),
    import("../learn/together.js"),
    ready,
  ]);
  const loadTraining = async () => (await import("../train/page/small.js")).createSmallTraining;
  return (root, { data }) => {
    leaveServed();
    const instrument = { ...makeReach(data), loadTraining };
    const reach = { address: toServerUrl, instrument, classes };
    return createCourse(root, data.course, reach).destroy;
  };
}

/** Remove the chart that came with the page when Streamlit shows another page. */
function leaveServed() {
  served?.destroy();
  served = null;
  clear();
}
