// The page that a student should see: the teacher's link, once, or the lesson of a new question. Uses no DOM.

/** @import { Attended } from "./membership.js" */
/**
 * The state of a class, for students.
 * @typedef {{round: number, links: number, link: {number: number, path: string, query: string}|null}} Seen
 */

/**
 * Return the address of the page to which a student should go, or null to stay. The address is relative, and always
 * that of one of our own pages.
 * @param {Seen} seen @param {Attended} attended
 * @param {boolean} isAtLesson whether the page shows the lesson of the class
 */
export function findTarget({ round, link }, attended, isAtLesson) {
  if (link && link.number > attended.links) return `${link.path.replace(/^\/+/, "")}?${link.query}`;
  if (round > attended.round && !isAtLesson) return getLessonAddress(attended.id);
  return null;
}

/** Return the address of a class's lesson, relative to the explorer's address. @param {string} id */
export function getLessonAddress(id) {
  return `learn?${new URLSearchParams({ class: id })}`;
}

/**
 * Return a student's class data in which the latest question and link count as followed.
 *
 * A page that has just joined continues from there.
 * @param {Seen} seen @param {Attended} attended @returns {Attended}
 */
export function markFollowed({ round, links }, attended) {
  return { ...attended, round, links };
}
