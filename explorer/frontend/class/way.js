// Where a student's page is to go: to the teacher's link, once, or back to the lesson when the class goes on. No page.

/** @import { Attended } from "./membership.js" */
/**
 * The state of a class as a student sees it.
 * @typedef {{round: number, links: number, link: {number: number, path: string, query: string}|null}} Seen
 */

/**
 * The page to go to, below the address of the explorer; null to stay. It is always one of the explorer's own.
 * @param {Seen} seen
 * @param {Attended} attended
 * @param {boolean} isAtLesson whether the page shows the lesson of the class
 */
export function wayOf({ round, link }, attended, isAtLesson) {
  if (link && link.number > attended.links) return `${link.path.replace(/^\/+/, "")}?${link.query}`;
  if (round > attended.round && !isAtLesson) return lessonOf(attended.id);
  return null;
}

/** The address of a class's lesson, below that of the explorer. @param {string} id */
export function lessonOf(id) {
  return `learn?${new URLSearchParams({ class: id })}`;
}

/**
 * What the page has followed once it has seen a state. A page that has just joined goes on from there.
 * @param {Seen} seen
 * @param {Attended} attended
 * @returns {Attended}
 */
export function followed({ round, links }, attended) {
  return { ...attended, round, links };
}
