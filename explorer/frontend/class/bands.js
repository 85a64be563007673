// The bar above a lesson in a class: the teacher's has the code to join, counts of students and buttons.

import { element, setText } from "../elements/dom.js";
import { createMenu } from "../elements/menu.js";
import { h, render } from "../elements/render.js";
import { createInvitation } from "./invitation.js";
import { getLeft } from "./membership.js";
import { describeAnswered, formatCode } from "./answer-counts.js";

/** @import { View } from "./live.js" */
/**
 * The bar above a lesson in a class. ``reveal``: shows the answers; if there are none, only at the second call.
 * @typedef {{element: HTMLElement, show: (view: View) => void, reveal: () => *}} Band
 */

const LOST_TEXT = "The connection is lost: it reconnects automatically.";
const ATTENDING_TEXT = "No name is asked for, and nobody sees which answer is yours.";
const REVEALED_TEXT = "The answers are shown.";
const UNANSWERED_TEXT = "No answers yet: press again to reveal.";
const END_TEXT = "End the class";
const ENDED_TEXT = "The class has ended. None of its data are kept.";
const OVER_STATES = ["refused", "gone", "ended"];

/**
 * Create the bar with which a teacher leads a class through a lesson.
 * @param {{isNew: boolean, invite: () => Promise<*>, command: (name: string, data?: *) => Promise<*>, next: (lesson:
 *   string) => {key: string, title: string}|null}} options ``isNew``: whether to show the code in large type at first;
 *   ``invite``: resolves to the invitation; ``command``: sends a command to the class; ``next``: returns the lesson
 *   after another, or null
 * @returns {Band}
 */
export function createTeachersBand({ isNew, invite, command, next }) {
  let view = /** @type {View|null} */ (null);
  let refusal = ""; // error message of the last command, or ""
  let warnedRound = 0; // the question whose answer the teacher wanted to reveal although nobody has answered it
  let isInvited = false;
  let invitation = /** @type {ReturnType<typeof createInvitation>|null} */ (null);
  const askAgain = () => runCommand("ask", { lesson: view?.lesson, again: true });
  const ending = element("button", { onclick: end }, END_TEXT);
  const menu = createMenu(
    "More",
    element("button", { onclick: askAgain }, "Ask again, without these answers"),
    ending,
  );
  menu.addEventListener("toggle", () => setText(ending, END_TEXT));
  const band = element("section", { class: "class-band flex-wrap", "aria-label": "Class" });

  /** @param {string} name @param {*} [data] */
  async function runCommand(name, data) {
    menu.open = false;
    refusal = (await command(name, data)).message ?? "";
    draw();
  }

  /** Show the answers of the class. If there are none, ask first whether that is meant. */
  function reveal() {
    if (!view || view.answered || warnedRound === view.round) return runCommand("reveal");
    [warnedRound, refusal] = [view.round, ""];
    return draw();
  }

  /** End the class at the second press. At the first one, say what would be lost. */
  function end() {
    if (ending.textContent !== END_TEXT) return runCommand("end");
    return setText(ending, "End it for everyone? All answers are deleted.");
  }

  function draw() {
    if (!view) return;
    const { answered, here = 0, lesson, lost, revealed = false, round, sentence, state } = view;
    const warning = !answered && !revealed && warnedRound === round ? UNANSWERED_TEXT : "";
    const words = describeAnswered(Number(answered ?? 0), here);
    const following = lesson ? next(lesson) : null;
    const goOn = () => runCommand("ask", { lesson: following?.key });
    const onward = { class: revealed && "primary", "aria-label": `Next: ${following?.title}`, onclick: goOn };
    band.classList.toggle("over", OVER_STATES.includes(state));
    render(
      band,
      invitation?.element ?? h("div"),
      h("p", { class: "count", role: "status" }, words),
      h(
        "div",
        { class: "acts flex-wrap" },
        !revealed && h("button", { class: "primary", onclick: reveal }, "Reveal"),
        following && h("button", onward, "Next", h("span", {}, `: ${following.title}`)),
        menu,
      ),
      h("p", { class: "note-of", role: "status" }, sentence || (lost ? LOST_TEXT : refusal || warning)),
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
 * @returns {Omit<Band, "reveal">}
 */
export function createStudentsBand({ onLeave, onAgain }) {
  const band = element("section", { class: "class-band attending flex-wrap", "aria-label": "Class" });
  return {
    element: band,
    show({ id, state, lost, revealed, sentence }) {
      band.classList.toggle("ended", state === "ended");
      const told = `You are in class ${formatCode(id)}. ${revealed ? REVEALED_TEXT : ATTENDING_TEXT}`;
      const words = sentence || (lost ? LOST_TEXT : told);
      render(
        band,
        h("p", { role: "status" }, state === "ended" ? ENDED_TEXT : words),
        state === "refused" && h("button", { onclick: onAgain }, "Try again"),
        getLeft() && h("a", { href: getLeft() }, "Back to your page"),
        h("button", { onclick: onLeave }, OVER_STATES.includes(state) ? "All lessons" : "Leave"),
      );
    },
  };
}
