// A class in the heading of every page: its teacher leads the students to this page, a student finds the lesson again.

import { isAt, isAtLesson, live } from "./live.js";
import { led } from "./membership.js";
import { isQueryShort, toQuery } from "../choice/address.js";
import { toServerUrl } from "../choice/server.js";
import { store } from "../choice/store.js";
import { element, setText } from "../elements/dom.js";

/** @import { View } from "./live.js" */

const FOLLOW = "Put the page of each student to what is shown here, once";
const ENDED = "The class has ended.";
const TOO_LONG = "This choice is too long for a link.";
const SAID_MS = 4000;
const LOOK_MS = 500; // Streamlit goes to another page without a word

/**
 * Fill a place in the heading, as long as there is a class.
 * @param {HTMLElement} host
 */
export function createClassHeading(host) {
  const said = element("span", { role: "status" });
  const follow = element("button", { onclick: lead, title: FOLLOW }, "Follow me");
  const back = element("a", {}, "To the class");
  let timer = 0;
  let shown = /** @type {View|null} */ (null);
  host.replaceChildren(follow, back, said);
  const leave = live.follow(show);
  const looking = setInterval(() => show(live.view), LOOK_MS);
  live.resume();

  /** @param {View|null} view */
  function show(view) {
    const isOpen = view?.state === "open" || view?.state === "silent";
    host.hidden = !view || isAtLesson() || (!isOpen && view.state !== "ended");
    follow.hidden = !isOpen || view?.role !== "teacher" || pathOf(led()?.pages ?? []) === null;
    back.hidden = !isOpen;
    if (view) back.href = live.lessonOf(view.id);
    if (view?.state === "ended" && shown?.state !== "ended") tell(ENDED);
    shown = view;
  }

  async function lead() {
    const query = toQuery(store.current);
    if (!isQueryShort(query)) return tell(TOO_LONG);
    const answer = await live.command("follow", { path: pathOf(led()?.pages ?? []), query });
    return tell(answer.message ?? `${answer.here} ${answer.here === 1 ? "page follows" : "pages follow"}.`);
  }

  /** @param {string} words */
  function tell(words) {
    clearTimeout(timer);
    setText(said, words);
    timer = setTimeout(() => setText(said, ""), SAID_MS);
  }

  return {
    destroy() {
      clearTimeout(timer);
      clearInterval(looking);
      leave();
    },
  };
}

/** The path of this page among some; null where it is none of them. @param {string[]} pages */
function pathOf(pages) {
  return pages.find((path) => isAt(path.slice(1))) ?? null;
}
