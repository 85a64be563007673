// The connection of this browser tab to a class: requests of teachers and students, and the server's event stream.

import { getAttended, BEGIN_EVENT, keepAttended, keepLed, keepLeft, getLed } from "./membership.js";
import { markFollowed, getLessonAddress, findTarget } from "./way.js";
import { isBareAddress, isQueryShort, toQuery } from "../choice/address.js";
import { postJson, toServerUrl } from "../choice/server.js";
import { createFeed } from "../train/client/events.js";

/**
 * The state of a class, from its event stream. ``lost``: whether the connection is interrupted; ``sentence``: why there
 * is no class; ``link``: the page to which the teacher has brought the students; ``spread_ms``: time over which their
 * requests are spread. For teachers: ``here``, ``answered``: numbers of students; once answers are revealed,
 * ``counts``: how often each was picked, and ``drawn``: number of drawings.
 * @typedef {{state: "joining"|"open"|"ended"|"gone"|"silent"|"crowded"|"refused", role: "teacher"|"student", id:
 *   string, lost: boolean, sentence?: string, lesson?: string, round: number, revealed?: boolean, links: number, link:
 *   {number: number, path: string, query: string}|null, answered?: number|boolean, here?: number, counts?:
 *   number[]|null, drawn?: number|null, spread_ms?: number}} View
 */

const OVER_STATES = ["ended", "gone"];
const ACTIVE_STATES = ["joining", "open", "silent"];
// default time over which students' changes of page are spread, so that the server is not flooded
const SPREAD_MS = 1500;

function createLive() {
  let view = /** @type {View|null} */ (null);
  let isNew = false; // whether this tab has just joined, and so ignores earlier questions and links
  const watchers = /** @type {Set<(view: View|null) => void>} */ (new Set());
  const feed = createFeed({
    address(id) {
      const isTeacher = view?.role === "teacher"; // the token proves that this tab leads or attends the class
      const token = isTeacher ? `watch=${getLed()?.watch}` : `guest=${getAttended()?.guest}`;
      return toServerUrl(`classes/${encodeURIComponent(id)}/events?${token}`);
    },
    onEvent,
    onLost: () => show({ lost: true }),
  });

  /** @param {Partial<View>} change */
  function show(change) {
    if (!view) return;
    view = { ...view, ...change };
    for (const watcher of [...watchers]) watcher(view);
  }

  /** @param {*} event */
  function onEvent(event) {
    if (event.state !== "open" && event.state !== "silent") feed.close();
    if (OVER_STATES.includes(event.state)) forget();
    show({ sentence: "", ...event, lost: false });
    if (event.state === "open" && view?.role === "student") go(event);
  }

  /**
   * Open the page to which the teacher has brought the students, once for each link.
   * @param {import("./way.js").Seen} seen the state of the class
   */
  function go(seen) {
    const membership = getAttended();
    if (!membership) return;
    const target = isNew ? null : findTarget(seen, membership, isAtLesson());
    isNew = false;
    keepAttended(markFollowed(seen, membership));
    if (target) setTimeout(() => leaveFor(toServerUrl(target)), Math.random() * SPREAD_MS);
  }

  /** Open another page. A choice or a drawing on this one is in its address, or kept. @param {string} address */
  function leaveFor(address) {
    const { instrument = null } = history.state ?? {};
    const isLong = instrument && !isQueryShort(toQuery(instrument.choice));
    if (!isAtLesson() && (isLong || !isBareAddress(location.search)))
      keepLeft(location.href, isLong ? instrument : null);
    location.assign(address);
  }

  function forget() {
    if (view?.role === "teacher") keepLed(null);
    else keepAttended(null);
  }

  /** @param {"teacher"|"student"} role @param {string} id */
  function begin(role, id) {
    feed.close();
    view = { state: "joining", role, id, lost: false, round: 0, links: 0, link: null };
    show({});
    dispatchEvent(new Event(BEGIN_EVENT));
  }

  /** @param {string} name @param {*} data */
  async function postCommand(name, data) {
    return view ? postJson(toServerUrl(`classes/${encodeURIComponent(view.id)}/${name}`), data) : {};
  }

  /**
   * Send a teacher's command to the class. Resolves to the server's answer, which has a ``message`` on failure.
   * @param {string} name @param {*} [data]
   */
  async function command(name, data = {}) {
    return postCommand(name, { secret: getLed()?.secret ?? "", ...data });
  }

  /** Join a class: as its teacher if this browser has opened it, otherwise as a student. @param {string} id */
  async function enter(id) {
    if (view?.id === id && ACTIVE_STATES.includes(view.state)) return undefined;
    if (getLed()?.id === id) {
      begin("teacher", id);
      return feed.open(id);
    }
    begin("student", id);
    const previous = getAttended()?.id === id ? getAttended() : null;
    const answer = await postCommand("join", { guest: previous?.guest ?? "" });
    if (view?.id !== id) return undefined;
    if (!answer.guest) return show({ state: "refused", sentence: answer.message });
    isNew = previous?.guest !== answer.guest;
    if (isNew) keepLeft(null);
    keepAttended({ round: 0, links: 0, ...(isNew ? {} : previous), id, guest: answer.guest });
    return feed.open(id);
  }

  return {
    get view() {
      return view;
    },
    get goesOn() {
      return view !== null && ACTIVE_STATES.includes(view.state);
    },
    /**
     * Call a function with the state of the class, now and after each change. Returns a function that stops this.
     * @param {(view: View|null) => void} watcher
     */
    follow(watcher) {
      watchers.add(watcher);
      watcher(view);
      return () => watchers.delete(watcher);
    },
    /**
     * Open a class with a lesson. Resolves to its id, or to a message on failure.
     * @param {string} lesson the lesson's key @returns {Promise<{id?: string, message?: string}>}
     */
    async open(lesson) {
      const answer = await postJson(toServerUrl("classes"), { lesson });
      if (answer.secret) keepLed(answer);
      return answer;
    },
    enter,
    /** Enter again the class that this tab attends or this browser leads, if there is one. */
    resume() {
      const id = getAttended()?.id ?? getLed()?.id;
      if (id && !view && !isAtLesson()) enter(id);
    },
    command,
    /**
     * Send a student's prediction after a random delay, because a whole class may answer at once. Resolves to "", or to
     * an error message.
     * @param {{picked: number|null, drawn: (number|null)[]|null}} prediction ``picked``: index of an answer; ``drawn``:
     *   heights of a drawn curve
     * @returns {Promise<string>}
     */
    async answer({ picked, drawn }) {
      const body = { guest: getAttended()?.guest ?? "", round: view?.round, picked, drawn };
      const rest_ms = Math.random() * (view?.spread_ms ?? 0);
      await new Promise((go) => setTimeout(go, rest_ms));
      return (await postCommand("answer", body)).message ?? "";
    },
    leave() {
      feed.close();
      keepAttended(null);
      view = null;
      for (const watcher of [...watchers]) watcher(view);
    },
    lessonOf: (/** @type {string} */ id) => toServerUrl(getLessonAddress(id)),
  };
}

/** Return whether this tab shows the lesson of a class. */
export function isAtLesson() {
  return isAt("learn") && new URLSearchParams(location.search).has("class");
}

/** Return whether this tab shows a given page of the app. @param {string} page */
export function isAt(page) {
  return location.pathname.replace(/\/$/, "") === new URL(toServerUrl(page)).pathname.replace(/\/$/, "");
}

/** The connection between this tab and a class, shared by the heading and the lesson. */
export const live = createLive();
