// The table of contents of the course: all lessons or one path through them, with the reader's progress.

import { getEntries, getSamplingSettings } from "../choice/choice.js";
import { parseMessage } from "../choice/message.js";
import { drawThumbnail } from "../chart/scene/thumbnail.js";
import { element, setAttribute } from "../elements/dom.js";
import { setPath, getProgress } from "./memory.js";
import { renderInline } from "./words.js";

/** @import { OnTerm } from "./words.js" */
/**
 * A lesson in the table of contents. ``choice``: the settings of its first chart, as a message from Python;
 * ``draws``: whether the reader draws the gradient.
 * @typedef {{key: string, title: string, question: string, minutes: number, choice: *, draws: boolean}} Listed
 */
/** A selection of lessons in its own order. @typedef {{title: string, keys: string[]}} Path */

const STORAGE_TEXT =
  "A dot is filled once both fresh questions at a lesson's end are answered. Kept in this browser alone.";

/**
 * Return the lessons of the path that the reader has selected, or else all lessons.
 * @param {Listed[]} lessons @param {Path[]} paths
 */
export function getPathLessons(lessons, paths) {
  const path = paths.find(({ title }) => title === getProgress().path);
  if (!path) return lessons;
  return path.keys.flatMap((key) => lessons.filter((lesson) => lesson.key === key));
}

/**
 * Create the table of contents, with buttons that select a path.
 * @param {Listed[]} lessons @param {Path[]} paths
 * @param {{linkTo: (key: string, ...content: Node[]) => HTMLElement, onTerm: OnTerm, print: HTMLElement}} acts
 *   ``linkTo``: creates a link to a lesson; ``onTerm``: opens the glossary; ``print``: a link to the printed course
 */
export function createContents(lessons, paths, { linkTo, onTerm, print }) {
  const list = element("ol", { class: "contents" });
  const buttons = ["", ...paths.map(({ title }) => title)].map((title) =>
    element("button", { onclick: () => choosePath(title), "data-path": title }, title || "All"),
  );
  const { learned } = getProgress();

  /** @param {Listed} lesson */
  function createEntry({ key, title, question, minutes, choice: message, draws }) {
    const choice = parseMessage(message);
    const { op, rules } = getEntries(choice);
    const settings = getSamplingSettings(choice);
    const number = lessons.findIndex((lesson) => lesson.key === key) + 1;
    const isLearned = learned.includes(key);
    const gradient =
      draws && !isLearned
        ? element("span", { class: "thumbnail" }, "?")
        : drawThumbnail({ op, rules: rules.slice(0, 1) }, settings);
    const asked = element("span", {}, ...renderInline(question, onTerm)).textContent;
    const dot = element("span", { class: "dot", "data-filled": isLearned, "aria-hidden": "true" });
    const facts = element("span", { class: "minutes" }, dot, `${minutes} min`);
    const picture = element(
      "span",
      { class: "flex-row" },
      drawThumbnail({ op, rules: [] }, settings),
      gradient,
    );
    const link = linkTo(key, picture, element("b", {}, `${number}. ${title}`), facts);
    setAttribute(link, "title", asked);
    setAttribute(link, "aria-label", `Lesson ${number}: ${title}`);
    const words = `${asked} About ${minutes} minutes${isLearned ? ", learned" : ""}.`;
    setAttribute(link, "aria-description", words);
    return element("li", {}, link);
  }

  /** @param {string} title of the path, or "" for all lessons */
  function choosePath(title) {
    setPath(title);
    show();
  }

  function show() {
    list.replaceChildren(...getPathLessons(lessons, paths).map(createEntry));
    const { path } = getProgress();
    for (const button of buttons) setAttribute(button, "aria-pressed", String(button.dataset.path === path));
  }

  show();
  const done = lessons.filter(({ key }) => learned.includes(key)).length;
  return element(
    "div",
    { class: "all" },
    element("h2", {}, "Learn by predicting"),
    element(
      "p",
      {},
      `Grey: what an op returns. Blue: the gradient that it passes back; ? where you draw it. ` +
        `${lessons.length} short lessons, ${done} done.`,
    ),
    element("div", { class: "paths", role: "group", "aria-label": "Path" }, ...buttons),
    list,
    element("p", { class: "kept" }, STORAGE_TEXT),
    element("p", { class: "kept" }, print),
  );
}
