// The bar above a lesson in a class: the teacher's has the code to join, counts of students and buttons.

import { element, setText } from "../elements/dom.js";
import { createMenu } from "../elements/menu.js";
import { h, render } from "../elements/render.js";
import { createInvitation } from "./invitation.js";
import { getLeft } from "./membership.js";
import { describeAnswered, formatCode } from "./answer-counts.js";

/** @import { View } from "./live.js" */
/** A lesson. @typedef {{key: string, title: string}} Listed */
/**
 * The bar above a lesson in a class. ``reveal``: shows the answers; if there are none, only at the second call;
 * ``goBack``: moves the class to an earlier lesson, at the second call.
 * @typedef {{element: HTMLElement, show: (view: View) => void, reveal: () => *, goBack: (to: Listed) => *}} Band
 */

const LOST_TEXT = "The connection is lost: it reconnects automatically.";
const ATTENDING_TEXT = "No name is asked for, and nobody sees which answer is yours.";
const REVEALED_TEXT = "The answers are shown.";
const UNANSWERED_TEXT = "No answers yet: press again to reveal.";
const WARNED_MS = 8000; // time for a second press
const END_TEXT = "End the class for everyone, and delete all answers? Press again.";
const ENDED_TEXT = "The class has ended. None of its data are kept.";
const OVER_STATES = ["refused", "gone", "ended"];

/**
 * Create the bar with which a teacher leads a class through a lesson.
 * @param {{isNew: boolean, invite: () => Promise<*>, command: (name: string, data?: *) => Promise<*>, lessons: Listed[],
 *   next: (lesson: string) => Listed|undefined}} options ``isNew``: whether to show the code in large type at first;
 *   ``invite``: resolves to the invitation; ``command``: sends a command to the class; ``lessons``:
 *   those to choose from; ``next``: returns the lesson after another, or undefined
 * @returns {Band}
 */
export function createTeachersBand({ isNew, invite, command, lessons, next }) {
  let view = /** @type {View|null} */ (null);
  let refusal = ""; // error message of the last command, or ""
  let warning = ""; // what a second press of the same key or button does
  let isInvited = false;
  let invitation = /** @type {ReturnType<typeof createInvitation>|null} */ (null);
  const askAgain = () => runCommand("ask", { lesson: view?.lesson, again: true });
  const end = () => warn(END_TEXT, () => runCommand("end"));
  const options = lessons.map(({ key, title }, index) =>
    element("option", { value: key }, `${index + 1}. ${title}`),
  );
  const onchange = () => runCommand("ask", { lesson: choice.value });
  const choice = element("select", { "aria-label": "Lesson", onchange }, ...options);
  const ending = element("button", { onclick: end });
  const menu = createMenu(
    "More",
    choice,
    element("button", { onclick: askAgain }, "Ask again, without these answers"),
    ending,
  );
  const band = element("section", { class: "class-band flex-wrap", "aria-label": "Class" });

  /** @param {string} name @param {*} [data] */
  async function runCommand(name, data) {
    menu.open = false;
    refusal = (await command(name, data)).message ?? "";
    draw("");
  }

  /** Show the answers of the class. If there are none, ask first whether that is meant. */
  function reveal() {
    return view?.answered ? runCommand("reveal") : warn(UNANSWERED_TEXT, () => runCommand("reveal"));
  }

  /** Call a function at the second press. @param {string} words what the press will do @param {() => *} act */
  function warn(words, act) {
    if (warning === words) return act();
    refusal = "";
    setTimeout(draw, WARNED_MS, "");
    return draw(words);
  }

  function draw(told = warning) {
    if (!view) return;
    warning = view.answered ? told.replace(UNANSWERED_TEXT, "") : told;
    const { answered, here = 0, lesson, lost, revealed = false, sentence, state } = view;
    const words = describeAnswered(Number(answered ?? 0), here);
    const following = lesson ? next(lesson) : null;
    choice.value = lesson ?? "";
    const goOn = () => runCommand("ask", { lesson: following?.key });
    const label = `Next lesson: ${following?.title}`;
    const onward = { class: revealed && "primary", onclick: goOn, "aria-label": label };
    const isEnding = warning === END_TEXT;
    const said = isEnding ? "" : warning;
    setText(ending, isEnding ? END_TEXT : "End the class"); // beside the pointer, for its second press
    band.classList.toggle("over", OVER_STATES.includes(state));
    render(
      band,
      invitation?.element ?? h("div"),
      h("p", { class: "count", role: "status" }, words),
      h(
        "div",
        { class: "acts flex-wrap" },
        !revealed && h("button", { class: "primary", onclick: reveal }, "Reveal"),
        following && h("button", onward, label.replaceAll("-", "\u2011")), // no line ends in a hyphen
        menu,
      ),
      h("p", { class: "note-of", role: "status" }, said || sentence || (lost ? LOST_TEXT : refusal)),
    );
    invitation?.say(words);
  }

  async function showInvitation() {
    isInvited = true;
    const answer = await invite();
    if (answer.message) {
      isInvited = false; // the next event tries again
      refusal = answer.message;
    } else invitation = createInvitation(answer);
    draw();
    if (isNew) invitation?.open();
  }

  return {
    element: band,
    reveal,
    goBack({ key, title }) {
      const words = `Press again to take the class back to “${title}”.`;
      return warn(words, () => runCommand("ask", { lesson: key }));
    },
    show(now) {
      view = now;
      if (now.state === "open" && !isInvited) showInvitation();
      draw();
    },
  };
}

/**
 * Create the bar that a student of a class sees above a lesson.
 * @param {{onLeave: () => void, onAgain: () => void}} options ``onAgain``: joins the class again
 * @returns {Omit<Band, "reveal"|"goBack">}
 */
export function createStudentsBand({ onLeave, onAgain }) {
  const band = element("section", { class: "class-band attending flex-wrap", "aria-label": "Class" });
  return {
    element: band,
    show({ id, state, lost, revealed, sentence }) {
      band.classList.toggle("ended", state === "ended");
      const left = getLeft();
      const page = left && (new URL(left).pathname.split("/").pop() || "explore");
      const news = revealed ? REVEALED_TEXT : left ? "" : ATTENDING_TEXT;
      const told = `You are in class ${formatCode(id)}. ${news}`;
      const words = sentence || (lost ? LOST_TEXT : told);
      render(
        band,
        h("p", { role: "status" }, state === "ended" ? ENDED_TEXT : words),
        state === "refused" && h("button", { onclick: onAgain }, "Try again"),
        page && h("a", { href: left }, `Back to ${page[0].toUpperCase()}${page.slice(1)}`),
        h("button", { onclick: onLeave }, OVER_STATES.includes(state) ? "All lessons" : "Leave"),
      );
    },
  };
}
