// The class in each page's heading: a button with which a teacher brings students to the page, and a link with which
// students return to the lesson.

import { isPresenting, toPresentingAddress } from "../choice/presentation.js";
import { isAt, isAtLesson, live } from "./live.js";
import { getLed } from "./membership.js";
import { formatCode } from "./answer-counts.js";
import { isQueryShort, toQuery } from "../choice/address.js";
import { store } from "../choice/store.js";
import { h, render } from "../elements/render.js";

/** @import { View } from "./live.js" */

const FOLLOW = "Put the page of each student to what is shown here, once";
const TABLE = "A pasted table is sent to no student: each can paste one on Train, as their own data";
const ENDED = "The class has ended.";
const TOO_LONG = "This choice is too long for a link.";
const STATUS_MS = 4000;
const POLL_MS = 500; // Streamlit fires no event when it shows another page

/** Show the class that this tab leads or attends in the heading of a page. @param {HTMLElement} host */
export function createClassHeading(host) {
  let status = "";
  let timer = 0;
  let lastView = /** @type {View|null} */ (null);
  const leave = live.follow(show);
  const polling = setInterval(() => show(live.view), POLL_MS);
  live.resume();

  /** @param {View|null} view */
  function show(view) {
    const isOpen = view?.state === "open" || view?.state === "silent";
    lastView = view;
    host.classList.toggle("over", view?.state === "ended");
    host.hidden = !view || isAtLesson() || (!isOpen && view.state !== "ended");
    document.documentElement.classList.toggle("with-class", !host.hidden);
    const leads = isOpen && view.role === "teacher" && findCurrentPath() !== undefined;
    const hasTable = isAt("train") && store.current?.training.task === "data";
    const lesson = view ? live.lessonOf(view.id) : "";
    render(
      host,
      isOpen && h("b", {}, `You ${view.role === "teacher" ? "lead" : "are in"} class ${formatCode(view.id)}`),
      leads && !hasTable && h("button", { onclick: lead, title: FOLLOW }, status || "Follow me"),
      leads && hasTable && h("span", { class: "stays", title: TABLE }, "Your table stays here"),
      isOpen && h("a", { href: isPresenting() ? toPresentingAddress(lesson) : lesson }, "To the class"),
      (!leads || hasTable) && h("span", { role: "status" }, view?.state === "ended" ? ENDED : status),
    );
  }

  async function lead() {
    const query = toQuery(store.current);
    if (!isQueryShort(query)) return showStatus(TOO_LONG);
    const answer = await live.command("follow", { path: findCurrentPath(), query });
    const followers = `${answer.here} ${answer.here === 1 ? "page follows" : "pages follow"}`;
    return showStatus(answer.message ?? `${followers}.`);
  }

  /** @param {string} words */
  function showStatus(words) {
    clearTimeout(timer);
    status = words;
    show(lastView);
    if (words) timer = setTimeout(() => showStatus(""), STATUS_MS);
  }

  return {
    destroy() {
      clearTimeout(timer);
      clearInterval(polling);
      leave();
      document.documentElement.classList.remove("with-class");
    },
  };
}

const findCurrentPath = () => getLed()?.pages.find((path) => isAt(path.slice(1)));
