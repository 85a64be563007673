// The class that a browser leads, or that a tab attends: the secret stays in the teacher's browser.

import { saveInSession, loadFromSession, loadFromBrowser, saveInBrowser } from "../choice/session.js";

/** A class as its teacher holds it; ``pages`` are the paths that students can be led to. */
/** @typedef {{id: string, secret: string, watch: string, pages: string[]}} Led */
/** A class as a student holds it: the token of the seat, and the last round and link that the page has followed. */
/** @typedef {{id: string, guest: string, round: number, links: number}} Attended */

/** The event of the window where the tab has begun to lead or to attend a class. */
export const BEGUN = "class-begun";
const [LED, ATTENDED] = ["class-led", "class-attended"];

/** @returns {Led|null} */
export const led = () => loadFromBrowser(LED);

/** @param {Led|null} next */
export const keepLed = (next) => saveInBrowser(LED, next);

/** @returns {Attended|null} */
export const attended = () => loadFromSession(ATTENDED);

/** @param {Attended|null} next */
export const keepAttended = (next) => saveInSession(ATTENDED, next);
