// Mounting of the page's parts in Streamlit components, which call this module with data from Python.

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
import { toServerUrl } from "../choice/server.js";
import { closeConnectionDialogs, shareTheme } from "./streamlit.js";

/**
 * A Streamlit component: its element, and data from Python. Streamlit passes it when the component appears and after
 * each change of data.
 * @typedef {{parentElement: HTMLElement, data: *}} Component
 * @typedef {(root: HTMLElement, component: Component) => () => void} Make a function that mounts a part of the page,
 *   and returns a function that removes it
 */

/**
 * The parts of the page: the CSS selector of the element that holds a part, and a function that loads the part.
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

/** The functions that remove a mounted part, by the element that holds it. @type {WeakMap<HTMLElement, () => void>} */
const mounted = new WeakMap();
/** The chart in the page's HTML, until Streamlit provides its element. @type {ReturnType<typeof createServed>} */
let served = null;
const ready = fetch(new URL("../document.json", import.meta.url)).then(async (response) => {
  const found = await response.json();
  setDocument(found);
  served = createServed();
});
closeConnectionDialogs();
shareTheme();

/**
 * Mount a part of the page in a Streamlit component, unless its element is gone or has the part already.
 * @param {Component} component
 */
export async function mount(component) {
  const host = component.parentElement;
  host.closest(".stMain")?.setAttribute("tabindex", "-1"); // Tab stops at its controls, not at the whole area
  const root = /** @type {HTMLElement|null} */ (host.querySelector(".instrument, .lesson, .notices"));
  const load = PARTS.find(([name]) => root?.matches(name))?.[1];
  if (!root || !load) return;
  const [make] = await Promise.all([load(), ready]);
  if (root.isConnected && !mounted.has(host)) mounted.set(host, make(root, component));
}

/**
 * Remove a part when Streamlit ends its component, but only if the element has left the page. For new data or colours,
 * Streamlit calls ``mount`` again with the same element, and may end the previous call later.
 * @param {HTMLElement} host
 */
export function ended(host) {
  if (!host.isConnected) unmount(host);
}

/** Remove the part that is mounted in an element. @param {HTMLElement} host */
export function unmount(host) {
  mounted.get(host)?.();
  mounted.delete(host);
}

/** @type {Make} */
function mountHeading(root) {
  const buttons = createButtons(/** @type {HTMLElement} */ (root.querySelector(".copy")));
  const end = new AbortController();
  if (getAttended() || getLed()) showClass();
  else addEventListener(BEGIN_EVENT, showClass, { once: true, signal: end.signal });

  async function showClass() {
    const { createClassHeading } = await import("../class/heading.js");
    if (end.signal.aborted) return;
    const host = element("span", { class: "in-class flex-wrap", hidden: true });
    root.append(host);
    end.signal.addEventListener("abort", createClassHeading(host).destroy);
  }

  return () => {
    buttons.destroy();
    end.abort();
  };
}

/** Mount messages about values in the page's link that could not be used. @type {Make} */
function mountNotices(root, { data }) {
  showNotices(root, data.notices);
  return () => root.replaceChildren();
}

/** Load the page Explore. Resolves once the chart in the page's HTML can be moved. @returns {Promise<Make>} */
async function loadExplore() {
  await ready;
  if (served) await waitUntilIdle();
  return mountExplore;
}

/** @type {Make} */
function mountExplore(root, { data }) {
  const page = served ?? createPage(root, parseMessage(data.choice), makePageReach(data), prepareExplore);
  served = null;
  if (page.root !== root) moveInto(page.root, root);
  page.join();
  return page.destroy;
}

/** @returns {Promise<Make>} */
async function loadTrain() {
  const [{ createTraining }, { enterTraining: entered }] = await Promise.all([
    import("../train/page/controller.js"),
    import("../train/state/tasks.js"),
    ready,
  ]);
  return makeWorkPage(createTraining, entered);
}

/** @returns {Promise<Make>} */
async function loadStudy() {
  const [{ createStudy }, { enterStudy: enteredStudy }] = await Promise.all([
    import("../study/study.js"),
    import("../study/settings.js"),
  ]);
  return makeWorkPage(createStudy, enteredStudy);
}

/**
 * Return a function that mounts a page with a training run or study on the server.
 * @param {import("../explore/page/instrument.js").CreateTraining} createTraining creates the run or study in the page
 * @param {Parameters<typeof createPage>[3]} enter adapts settings of other pages to this one @returns {Make}
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

/** @returns {Promise<Make>} */
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

/** Remove the chart in the HTML of the page, because Streamlit shows another page. */
function leaveServed() {
  served?.destroy();
  served = null;
  clear();
}
