// Which page a student's browser opens in a class: a page to which the teacher sends the class, opened once, or the
// lesson of a new question.

/** @import { Attended } from "./membership.js" */
/**
 * The state of a class that matters to students: the number of the current question, the number of links so far, and
 * the last link.
 * @typedef {{round: number, links: number, link: {number: number, path: string, query: string}|null}} Seen
 */

/**
 * Return the address to which the page of a student should go, or null to stay. It is relative, and always that of a
 * page of the app.
 * @param {Seen} seen @param {Attended} attended what this tab has followed so far
 * @param {boolean} isAtLesson whether the page shows the lesson of the class
 */
export function findTarget({ round, link }, attended, isAtLesson) {
  if (link && link.number > attended.links) return `${link.path.replace(/^\/+/, "")}?${link.query}`;
  if (round !== attended.round && !isAtLesson) return getLessonAddress(attended.id);
  return null;
}

/** Return the address of the lesson of a class, relative to that of the app. @param {string} id the class */
export function getLessonAddress(id) {
  return `learn?${new URLSearchParams({ class: id })}`;
}

/**
 * Return the data of a student's class with the latest question and link marked as followed.
 * @param {Seen} seen @param {Attended} attended @returns {Attended}
 */
export function markFollowed({ round, links }, attended) {
  return { ...attended, round, links };
}
