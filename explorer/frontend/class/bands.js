// The band above a lesson in a class: its teacher's, with code, counts and commands, and that of a student.

import { element, setText } from "../elements/dom.js";
import { createMenu } from "../elements/menu.js";
import { createInvitation } from "./invitation.js";
import { answeredWords } from "./tally.js";

/** @import { View } from "./live.js" */
/** @typedef {{element: HTMLElement, show: (view: View) => void}} Band */

const LOST = "The connection is lost: it is opened again by itself.";
const ATTENDING = "You are in a class. No name is asked for, and nobody sees which answer is yours.";
const SHOWN = "You are in a class. The answers are shown.";
const ENDED = "The class has ended. Nothing of it was kept.";
const OVER = ["refused", "gone", "ended"];

/**
 * @param {{isNew: boolean, invite: () => Promise<*>, command: (name: string, data?: *) => Promise<*>,
 *   next: (lesson: string) => {key: string, title: string}|null}} options ``isNew`` shows the code large at first
 * @returns {Band}
 */
export function createTeachersBand({ isNew, invite, command, next }) {
  let view = /** @type {View|null} */ (null);
  let refusal = ""; // of what was pressed last
  let isInvited = false;
  let invitation = /** @type {ReturnType<typeof createInvitation>|null} */ (null);
  const place = element("div");
  const count = element("p", { class: "count", role: "status" });
  const note = element("p", { class: "note-of", role: "status" });
  const reveal = element("button", { class: "main", onclick: () => act("reveal") }, "Reveal");
  const onward = element("button", { onclick: goOn });
  const more = createMenu(
    "More",
    element("button", { onclick: () => act("ask", { lesson: view?.lesson }) }, "Ask again"),
    element("button", { onclick: () => act("end") }, "End the class"),
  );

  const acts = element("div", { class: "acts" }, reveal, onward, more);

  /** @param {string} name @param {*} [data] */
  async function act(name, data) {
    more.open = false;
    refusal = (await command(name, data)).message ?? "";
    tell();
  }

  function tell() {
    setText(note, view?.sentence || (view?.lost ? LOST : refusal));
  }

  function goOn() {
    const following = next(view?.lesson ?? "");
    if (following) act("ask", { lesson: following.key });
  }

  function say() {
    const words = answeredWords(Number(view?.answered ?? 0), view?.here ?? 0);
    setText(count, words);
    invitation?.say(words);
  }

  async function inviteOnce() {
    isInvited = true;
    const told = await invite();
    if (told.message) {
      isInvited = false; // the next event asks again
      refusal = told.message;
      return tell();
    }
    invitation = createInvitation(told);
    place.replaceWith(invitation.element);
    if (isNew) invitation.open();
    return say();
  }

  const band = element("section", { class: "class-band", "aria-label": "Class" }, place, count, acts, note);
  return {
    element: band,
    show(now) {
      view = now;
      if (now.state === "open" && !isInvited) inviteOnce();
      say();
      reveal.hidden = now.revealed === true;
      const following = now.lesson ? next(now.lesson) : null;
      onward.hidden = following === null;
      setText(onward, `Next: ${following?.title ?? ""}`);
      onward.classList.toggle("main", now.revealed === true);
      band.classList.toggle("over", OVER.includes(now.state));
      tell();
    },
  };
}

/**
 * @param {{onLeave: () => void, onAgain: () => void}} options
 * @returns {Band}
 */
export function createStudentsBand({ onLeave, onAgain }) {
  const words = element("p", { role: "status" });
  const again = element("button", { onclick: onAgain }, "Try again");
  const leave = element("button", { onclick: onLeave });
  return {
    element: element(
      "section",
      { class: "class-band attending", "aria-label": "Class" },
      words,
      again,
      leave,
    ),
    show({ state, lost, revealed, sentence }) {
      again.hidden = state !== "refused";
      setText(leave, OVER.includes(state) ? "All lessons" : "Leave");
      setText(words, state === "ended" ? ENDED : sentence || (lost ? LOST : revealed ? SHOWN : ATTENDING));
    },
  };
}
