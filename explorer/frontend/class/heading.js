// Links to a class in each page's heading: a teacher leads students here, and students return to the lesson.

import { isAt, isAtLesson, live } from "./live.js";
import { getLed } from "./membership.js";
import { isQueryShort, toQuery } from "../choice/address.js";
import { toServerUrl } from "../choice/server.js";
import { store } from "../choice/store.js";
import { element, setText } from "../elements/dom.js";

/** @import { View } from "./live.js" */

const FOLLOW = "Put the page of each student to what is shown here, once";
const ENDED = "The class has ended.";
const TOO_LONG = "This choice is too long for a link.";
const STATUS_MS = 4000;
const POLL_MS = 500; // Streamlit sends no event when the page changes

/** Show the current class in a page's heading. @param {HTMLElement} host */
export function createClassHeading(host) {
  const status = element("span", { role: "status" });
  const follow = element("button", { onclick: lead, title: FOLLOW }, "Follow me");
  const back = element("a", {}, "To the class");
  let timer = 0;
  let lastView = /** @type {View|null} */ (null);
  host.replaceChildren(follow, back, status);
  const leave = live.follow(show);
  const polling = setInterval(() => show(live.view), POLL_MS);
  live.resume();

  /** Update the heading after the state of the class has changed. @param {View|null} view */
  function show(view) {
    const isOpen = view?.state === "open" || view?.state === "silent";
    host.hidden = !view || isAtLesson() || (!isOpen && view.state !== "ended");
    follow.hidden = !isOpen || view?.role !== "teacher" || findCurrentPath(getLed()?.pages ?? []) === null;
    back.hidden = !isOpen;
    if (view) back.href = live.lessonOf(view.id);
    if (view?.state === "ended" && lastView?.state !== "ended") showStatus(ENDED);
    lastView = view;
  }

  async function lead() {
    const query = toQuery(store.current);
    if (!isQueryShort(query)) return showStatus(TOO_LONG);
    const answer = await live.command("follow", { path: findCurrentPath(getLed()?.pages ?? []), query });
    return showStatus(
      answer.message ?? `${answer.here} ${answer.here === 1 ? "page follows" : "pages follow"}.`,
    );
  }

  /** Show a message in the heading for a few seconds. @param {string} words */
  function showStatus(words) {
    clearTimeout(timer);
    setText(status, words);
    timer = setTimeout(() => setText(status, ""), STATUS_MS);
  }

  return {
    destroy() {
      clearTimeout(timer);
      clearInterval(polling);
      leave();
    },
  };
}

/** Return the current page's path if it is in a list of paths. Otherwise returns null. @param {string[]} pages */
function findCurrentPath(pages) {
  return pages.find((path) => isAt(path.slice(1))) ?? null;
}
