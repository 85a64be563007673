// The count of each answer of a class: who picked it, and who drew a curve like it. No page.

/** @typedef {{picked: number, drawn: number, all: number}} Row of one answer */
/** @typedef {{rows: Row[], others: number, all: number}} Tally ``others`` drew a curve that is like none */

/**
 * @param {number[]} counts how often each answer was picked
 * @param {number[]} alike of each drawing the index of the answer it is like, -1 for none
 * @returns {Tally}
 */
export function tallyOf(counts, alike) {
  const rows = counts.map((picked, index) => {
    const drawn = alike.filter((each) => each === index).length;
    return { picked, drawn, all: picked + drawn };
  });
  const all = counts.reduce((sum, count) => sum + count, alike.length);
  return { rows, others: alike.filter((each) => each < 0).length, all };
}

/** The ways in which an answer was given, where there are two. @param {Row} row @param {boolean} draws */
export function waysOf({ picked, drawn }, draws) {
  return draws ? `${drawn} drew it, ${picked} picked it` : "";
}

/** How many have answered, in words. @param {number} answered @param {number} here */
export function answeredWords(answered, here) {
  if (!here && !answered) return "Nobody is here yet.";
  return `${here} here, ${answered} ${answered === 1 ? "has" : "have"} answered`;
}
