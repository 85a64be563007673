// A class on the page Learn: the teacher's or a student's screen, with the lesson whose question the class is asked.

import { live } from "../class/live.js";
import { getAttended, getLed } from "../class/membership.js";
import { toServerUrl } from "../choice/server.js";
import { element } from "../elements/dom.js";
import { decodeArray } from "../choice/arrays.js";
import { createAnswers } from "./answers.js";
import { createStudentsBand, createTeachersBand } from "../class/bands.js";
import { createCrowd } from "../class/crowd.js";
import { forget } from "./memory.js";

/** @import { Listed } from "../class/bands.js" */
/** @import { View } from "../class/live.js" */
/** @import { Part } from "./screen.js" */
/**
 * Functions of the page for a class. ``load``: resolves to a lesson, or to a message on failure; ``build``: creates the
 * screen of a lesson; ``next``: returns the lesson after another, or undefined; ``onLesson``: called with each lesson that the class is asked about; ``onLeave``: called when a
 * student leaves.
 * @typedef {{lessons: Listed[], load: (key: string) => Promise<*>, build: (record: *, part: Part) => ReturnType<typeof
 *   import("./screen.js").createLesson>, next: (key: string) => Listed|undefined, onLesson: (key: string) => void, onLeave: (key: string|null) => void}} Means
 */

const AGAIN_MS = 3000; // pause before a failed request for a lesson or drawings is repeated

let opened = ""; // id of a class that was just opened, whose code is shown in large type

/** Functions that open, find and show classes on the page Learn. */
export const classes = {
  held: () => getLed()?.id ?? null,
  attended: () => getAttended()?.id ?? null,
  /** @param {string} lesson */
  async open(lesson) {
    const answer = await live.open(lesson);
    opened = answer.id ?? "";
    return answer;
  },
  create: createClassScreen,
  follow: live.follow,
};

/** @param {HTMLElement} host @param {string} id the class's id @param {Means} means */
function createClassScreen(host, id, { lessons, load, build, next, onLesson, onLeave }) {
  const leads = getLed()?.id === id;
  const place = element("div", { class: "place" });
  const teachersBand = leads ? createTeachersBand(getTeacherActions()) : null;
  const band = teachersBand ?? createStudentsBand({ onLeave: leave, onAgain: () => live.enter(id) });
  let lesson = /** @type {ReturnType<Means["build"]>|null} */ (null);
  let round = 0;
  let isRevealed = false;
  let notice = ""; // that the address names another lesson
  let other = /** @type {Listed|undefined} */ (undefined); // that lesson, to which the teacher's Next leads
  let timer = 0;
  let answers = /** @type {ReturnType<typeof createAnswers>|null} */ (null);
  let crowd = /** @type {ReturnType<typeof createCrowd>|null} */ (null);
  opened = "";

  host.replaceChildren(band.element, place);
  const stop = live.follow(show);
  live.enter(id);

  function getTeacherActions() {
    return {
      isNew: opened === id,
      invite: () => live.command("invite", { address: toServerUrl("") }),
      command: live.command,
      lessons,
      next: (/** @type {string} */ key) => other ?? next(key),
    };
  }

  /** @param {View|null} view */
  function show(view) {
    if (view?.id !== id) return;
    band.show({ ...view, sentence: view.sentence || notice });
    if (view.state === "ended" || view.state === "gone") forget(`${id} `);
    if (view.state === "ended" && leads) onLeave(view.lesson ?? null);
    // the class is over, so no prediction can be sent
    if (view.state === "ended" && !isRevealed) place.replaceChildren();
    if (view.state !== "open" || !view.lesson) return;
    if (view.round !== round) change(view.lesson, view.round);
    else if (view.revealed && lesson && !isRevealed) reveal(view);
  }

  /** @param {string} key @param {number} asked number of the round */
  async function change(key, asked) {
    clearTimeout(timer);
    const named = !round && new URLSearchParams(location.search).get("lesson");
    const [to, at] = [named, key].map((each) => lessons.find((one) => one.key === each));
    other = to === at ? undefined : to;
    notice = other ? `This address names “${other.title}”, but the class is at “${at?.title}”.` : "";
    round = asked;
    isRevealed = false;
    lesson?.destroy();
    lesson = null;
    onLesson(key);
    place.replaceChildren(
      element("p", { role: "status" }, "The numbers of this lesson are being computed …"),
    );
    const record = await load(key);
    if (asked !== round) return;
    if ("message" in record) {
      place.replaceChildren(element("p", { role: "alert" }, record.message));
      timer = setTimeout(() => change(key, asked), AGAIN_MS);
      return;
    }
    const part = leads
      ? makeTeacherPart()
      : { memory: `${id} ${round}`, form: null, send: live.answer, conclude: null };
    lesson = build(record, part);
    place.replaceChildren(lesson.element);
    lesson.begin(live.view?.revealed, Boolean(live.view?.answered));
    show(live.view);
  }

  /** @returns {Part} */
  function makeTeacherPart() {
    return {
      memory: null,
      form(forecast) {
        answers = createAnswers(forecast, `lesson ${id} ${round} raced`);
        crowd = forecast.draws ? createCrowd(forecast.choice.range) : null;
        return { element: answers.element, layer: crowd };
      },
      send: null,
      conclude: () => teachersBand?.reveal(),
    };
  }

  /** @param {View} view */
  async function reveal(view) {
    isRevealed = true;
    const askedRound = round;
    const { drawings = [], message } = leads && view.drawn ? await live.command("drawings") : {};
    if (askedRound !== round) return;
    const curves = drawings.map(decodeArray);
    crowd?.show(curves); // before the chart is drawn: its labels leave them free
    lesson?.reveal(leads ? null : Boolean(view.answered));
    if (message) timer = setTimeout(() => reveal(view), AGAIN_MS);
    else if (leads) answers?.show(view.counts ?? [], curves);
  }

  function leave() {
    forget(`${id} `);
    live.leave();
    onLeave(null);
  }

  return {
    id,
    leads,
    goesOn: () => live.goesOn,
    /** @param {string} key the lesson's key */
    ask: (key) => live.command("ask", { lesson: key }),
    goBack: teachersBand?.goBack,
    showLinks: () => lesson?.showLinks(),
    /**
     * Move by a number of slides. Returns false if there is no such slide; while a lesson loads, nothing happens.
     * @param {number} step @returns {boolean}
     */
    turn: (step) => lesson?.turn(step) ?? live.goesOn,
    pick: (/** @type {number} */ index) => lesson?.pick(index),
    destroy() {
      clearTimeout(timer);
      round = -1;
      stop();
      lesson?.destroy();
    },
  };
}
