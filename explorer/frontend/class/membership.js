// Storage of class membership: of the class that this browser leads, with the secret that only its teacher has, and of
// the class that this tab attends.

import { addCustomEntries } from "../choice/entries.js";
import { saveInSession, loadFromSession, loadFromBrowser, saveInBrowser } from "../choice/session.js";

/**
 * A class that this browser leads. ``pages``: the paths to which students can be brought.
 * @typedef {{id: string, secret: string, watch: string, pages: string[]}} Led
 */
/**
 * A class that this tab attends, with the student's token, and the last question and link that the tab has followed.
 * @typedef {{id: string, guest: string, round: number, links: number}} Attended
 */

/** The name of the event on the window when this tab begins to lead or attend a class. */
export const BEGIN_EVENT = "class-begun";
const [LED_KEY, ATTENDED_KEY] = ["class-led", "class-attended"];
const [LEFT_KEY, CHOICE_KEY] = ["class-left", "class-left-choice"];

/** Return the stored data of the class that this browser leads, or null. @returns {Led|null} */
export const getLed = () => loadFromBrowser(LED_KEY);

/** Store the data of the class that this browser leads. Null removes them. @param {Led|null} next */
export const keepLed = (next) => saveInBrowser(LED_KEY, next);

/** Return the stored data of the class that this tab attends, or null. @returns {Attended|null} */
export const getAttended = () => loadFromSession(ATTENDED_KEY);

/** Store the data of the class that this tab attends. Null removes them. @param {Attended|null} next */
export const keepAttended = (next) => saveInSession(ATTENDED_KEY, next);

/** Return the address of the page from which a question called this tab, or null. @returns {string|null} */
export const getLeft = () => loadFromSession(LEFT_KEY);

/**
 * Save the address of a page that this tab leaves for a question, or remove it.
 * @param {string|null} address @param {*} [choice] the page's settings if they are too long for an address
 */
export function keepLeft(address, choice = null) {
  saveInSession(LEFT_KEY, address);
  saveInSession(CHOICE_KEY, choice);
}

/** Return the settings saved by ``keepLeft``, once, or null. */
export function takeLeftChoice() {
  const left = loadFromSession(CHOICE_KEY);
  saveInSession(CHOICE_KEY, null);
  if (left) addCustomEntries(left.own);
  return left && left.choice;
}
