// Storage of the class that a browser leads or a tab attends. A class's secret stays in the teacher's browser.

import { saveInSession, loadFromSession, loadFromBrowser, saveInBrowser } from "../choice/session.js";

/** A class in its teacher's browser; ``pages`` are the paths that students can be led to. */
/** @typedef {{id: string, secret: string, watch: string, pages: string[]}} Led */
/** A class in a student's tab: the token of the seat, and the last round and link that the page followed. */
/** @typedef {{id: string, guest: string, round: number, links: number}} Attended */

/** The name of the window event that is fired when the tab begins to lead or attend a class. */
export const BEGIN_EVENT = "class-begun";
const [LED_KEY, ATTENDED_KEY] = ["class-led", "class-attended"];

/** Return the saved data of the class that this browser leads, or null. @returns {Led|null} */
export const getLed = () => loadFromBrowser(LED_KEY);

/** Save the data of the class that this browser leads. @param {Led|null} next */
export const keepLed = (next) => saveInBrowser(LED_KEY, next);

/** Return the saved data of the class that this tab attends, or null. @returns {Attended|null} */
export const getAttended = () => loadFromSession(ATTENDED_KEY);

/** Save the data of the class that this tab attends. @param {Attended|null} next */
export const keepAttended = (next) => saveInSession(ATTENDED_KEY, next);
