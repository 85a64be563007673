// The class of this tab, live: what its teacher commands, what its student sends, and the state as the server tells it.

import { attended, BEGUN, keepAttended, keepLed, led } from "./membership.js";
import { followed, lessonOf, wayOf } from "./way.js";
import { postJson, toServerUrl } from "../choice/server.js";
import { createFeed } from "../train/client/events.js";

/**
 * The state of a class as its stream tells it, and whether the connection is ``lost``; ``sentence`` is there where the
 * class is not. A teacher has ``here``, ``answered`` and, once revealed, ``counts`` and ``drawn``.
 * @typedef {{state: "joining"|"open"|"ended"|"gone"|"silent"|"crowded"|"refused", role: "teacher"|"student",
 *   id: string, lost: boolean, sentence?: string, lesson?: string, round: number, revealed?: boolean, links: number,
 *   link: {number: number, path: string, query: string}|null, answered?: number|boolean,
 *   here?: number, counts?: number[]|null, drawn?: number|null, spread_ms?: number}} View
 */

const OVER = ["ended", "gone"];
const STANDS = ["joining", "open", "silent"];
const SPREAD_MS = 1500; // in which a class leaves for another page, so that not all ask for it at once

function createLive() {
  let view = /** @type {View|null} */ (null);
  let isNew = false; // the seat was taken just now: what came before is not followed
  const watchers = /** @type {Set<(view: View|null) => void>} */ (new Set());
  const feed = createFeed({
    address: (id) => toServerUrl(`classes/${encodeURIComponent(id)}/events?${proof()}`),
    onEvent,
    onLost: () => show({ lost: true }),
  });

  function proof() {
    return view?.role === "teacher" ? `watch=${led()?.watch}` : `guest=${attended()?.guest}`;
  }

  /** @param {Partial<View>} change */
  function show(change) {
    if (!view) return;
    view = { ...view, ...change };
    for (const watcher of [...watchers]) watcher(view);
  }

  /** @param {*} event */
  function onEvent(event) {
    if (event.state !== "open" && event.state !== "silent") feed.close();
    if (OVER.includes(event.state)) forget();
    show({ sentence: "", ...event, lost: false });
    if (event.state === "open" && view?.role === "student") go(event);
  }

  /** Go where the class is led; each link is followed once. @param {import("./way.js").Seen} seen */
  function go(seen) {
    const mine = attended();
    if (!mine) return;
    const way = isNew ? null : wayOf(seen, mine, isAtLesson());
    isNew = false;
    keepAttended(followed(seen, mine));
    if (way) setTimeout(() => location.assign(toServerUrl(way)), Math.random() * SPREAD_MS);
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
    dispatchEvent(new Event(BEGUN));
  }

  /** @param {string} name @param {*} data */
  async function asked(name, data) {
    return view ? postJson(toServerUrl(`classes/${encodeURIComponent(view.id)}/${name}`), data) : {};
  }

  /** Lead the class: the answer of the server, with a message where it refuses. @param {string} name @param {*} [data] */
  async function command(name, data = {}) {
    return asked(name, { secret: led()?.secret ?? "", ...data });
  }

  /** Be in a class: its teacher where this browser has its secret, else a student. @param {string} id */
  async function enter(id) {
    if (view?.id === id && STANDS.includes(view.state)) return undefined;
    if (led()?.id === id) {
      begin("teacher", id);
      return feed.open(id);
    }
    begin("student", id);
    const known = attended()?.id === id ? attended() : null;
    const answer = await asked("join", { guest: known?.guest ?? "" });
    if (view?.id !== id) return undefined;
    if (!answer.guest) return show({ state: "refused", sentence: answer.message });
    isNew = known?.guest !== answer.guest;
    keepAttended({ round: 0, links: 0, ...(isNew ? {} : known), id, guest: answer.guest });
    return feed.open(id);
  }

  return {
    get view() {
      return view;
    },
    /** Whether the class goes on, as far as is known. */
    get goesOn() {
      return view !== null && STANDS.includes(view.state);
    },
    /** Be told of every state, and of the present one; returns what ends it. @param {(view: View|null) => void} watcher */
    follow(watcher) {
      watchers.add(watcher);
      watcher(view);
      return () => watchers.delete(watcher);
    },
    /**
     * Open a class on a lesson; its id, or a message.
     * @param {string} lesson
     * @returns {Promise<{id?: string, message?: string}>}
     */
    async open(lesson) {
      const answer = await postJson(toServerUrl("classes"), { lesson });
      if (answer.secret) keepLed(answer);
      return answer;
    },
    enter,
    /** Be in the class that this tab attends or this browser leads, if there is one. */
    resume() {
      const id = attended()?.id ?? led()?.id;
      if (id && !view && !isAtLesson()) enter(id);
    },
    command,
    /**
     * Send the prediction of a student, at a moment of its own, as a class answers all at once; a sentence where it is
     * not taken.
     * @param {{picked: number|null, drawn: (number|null)[]|null}} prediction
     * @returns {Promise<string>}
     */
    async answer({ picked, drawn }) {
      const sent = { guest: attended()?.guest ?? "", round: view?.round, picked, drawn };
      const rest_ms = Math.random() * (view?.spread_ms ?? 0);
      await new Promise((go) => setTimeout(go, rest_ms));
      return (await asked("answer", sent)).message ?? "";
    },
    /** Leave a class as a student. */
    leave() {
      feed.close();
      keepAttended(null);
      view = null;
      for (const watcher of [...watchers]) watcher(view);
    },
    lessonOf: (/** @type {string} */ id) => toServerUrl(lessonOf(id)),
  };
}

/** Whether the tab shows the lesson of a class. */
export function isAtLesson() {
  return isAt("learn") && new URLSearchParams(location.search).has("class");
}

/** Whether the tab is at a page of the explorer. @param {string} page */
export function isAt(page) {
  return location.pathname.replace(/\/$/, "") === new URL(toServerUrl(page)).pathname.replace(/\/$/, "");
}

/** The one class of this tab: the heading and the lesson share it. */
export const live = createLive();
