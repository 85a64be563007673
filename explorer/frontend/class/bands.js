// The bar above a lesson in a class. The teacher's shows the code, counts and buttons.

import { element, setText } from "../elements/dom.js";
import { createMenu } from "../elements/menu.js";
import { createInvitation } from "./invitation.js";
import { describeAnswered } from "./tally.js";

/** @import { View } from "./live.js" */
/** @typedef {{element: HTMLElement, show: (view: View) => void}} Band */

const LOST_TEXT = "The connection is lost: it reconnects automatically.";
const ATTENDING_TEXT = "You are in a class. No name is asked for, and nobody sees which answer is yours.";
const REVEALED_TEXT = "You are in a class. The answers are shown.";
const ENDED_TEXT = "The class has ended. Nothing of it was kept.";
const OVER_STATES = ["refused", "gone", "ended"];

/**
 * Create the bar above a lesson from which a teacher leads a class.
 * @param {{isNew: boolean, invite: () => Promise<*>, command: (name: string, data?: *) => Promise<*>,
 *   next: (lesson: string) => {key: string, title: string}|null}} options ``isNew`` shows the code large at first
 * @returns {Band}
 */
export function createTeachersBand({ isNew, invite, command, next }) {
  let view = /** @type {View|null} */ (null);
  let refusal = ""; // the server's message if it refused the last command
  let isInvited = false;
  let invitation = /** @type {ReturnType<typeof createInvitation>|null} */ (null);
  const place = element("div");
  const count = element("p", { class: "count", role: "status" });
  const note = element("p", { class: "note-of", role: "status" });
  const reveal = element("button", { class: "main", onclick: () => runCommand("reveal") }, "Reveal");
  const onward = element("button", { onclick: goOn });
  const menu = createMenu(
    "More",
    element("button", { onclick: () => runCommand("ask", { lesson: view?.lesson }) }, "Ask again"),
    element("button", { onclick: () => runCommand("end") }, "End the class"),
  );

  const acts = element("div", { class: "acts" }, reveal, onward, menu);

  /**
   * Send a command to the class, and show a message if the server refuses it.
   * @param {string} name @param {*} [data]
   */
  async function runCommand(name, data) {
    menu.open = false;
    refusal = (await command(name, data)).message ?? "";
    showNote();
  }

  function showNote() {
    setText(note, view?.sentence || (view?.lost ? LOST_TEXT : refusal));
  }

  function goOn() {
    const following = next(view?.lesson ?? "");
    if (following) runCommand("ask", { lesson: following.key });
  }

  function showCount() {
    const words = describeAnswered(Number(view?.answered ?? 0), view?.here ?? 0);
    setText(count, words);
    invitation?.say(words);
  }

  async function showInvitation() {
    isInvited = true;
    const answer = await invite();
    if (answer.message) {
      isInvited = false; // retried at the next event
      refusal = answer.message;
      return showNote();
    }
    invitation = createInvitation(answer);
    place.replaceWith(invitation.element);
    if (isNew) invitation.open();
    return showCount();
  }

  const band = element("section", { class: "class-band", "aria-label": "Class" }, place, count, acts, note);
  return {
    element: band,
    show(now) {
      view = now;
      if (now.state === "open" && !isInvited) showInvitation();
      showCount();
      reveal.hidden = now.revealed === true;
      const following = now.lesson ? next(now.lesson) : null;
      onward.hidden = following === null;
      setText(onward, `Next: ${following?.title ?? ""}`);
      onward.classList.toggle("main", now.revealed === true);
      band.classList.toggle("over", OVER_STATES.includes(now.state));
      showNote();
    },
  };
}

/**
 * Create the bar above a lesson that a student sees during a class.
 * @param {{onLeave: () => void, onAgain: () => void}} options @returns {Band}
 */
export function createStudentsBand({ onLeave, onAgain }) {
  const words = element("p", { role: "status" });
  const retry = element("button", { onclick: onAgain }, "Try again");
  const leave = element("button", { onclick: onLeave });
  return {
    element: element(
      "section",
      { class: "class-band attending", "aria-label": "Class" },
      words,
      retry,
      leave,
    ),
    show({ state, lost, revealed, sentence }) {
      retry.hidden = state !== "refused";
      setText(leave, OVER_STATES.includes(state) ? "All lessons" : "Leave");
      setText(
        words,
        state === "ended"
          ? ENDED_TEXT
          : sentence || (lost ? LOST_TEXT : revealed ? REVEALED_TEXT : ATTENDING_TEXT),
      );
    },
  };
}
