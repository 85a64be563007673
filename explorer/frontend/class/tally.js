// Counting of a class's answers, which are picked or drawn as a similar curve. Uses no DOM.

/** @typedef {{picked: number, drawn: number, all: number}} Row the counts of one answer */
/** @typedef {{rows: Row[], others: number, all: number}} Tally ``others`` counts drawings that match no answer */

/**
 * Count how many students of a class picked or drew each answer.
 * @param {number[]} counts picks by answer
 * @param {number[]} alike the index of the answer that each drawing matches, -1 for none
 * @returns {Tally}
 */
export function countAnswers(counts, alike) {
  const rows = counts.map((picked, index) => {
    const drawn = alike.filter((each) => each === index).length;
    return { picked, drawn, all: picked + drawn };
  });
  const all = counts.reduce((sum, count) => sum + count, alike.length);
  return { rows, others: alike.filter((each) => each < 0).length, all };
}

/**
 * Describe how many students drew a curve and how many picked an answer. Returns "" if the question cannot be answered
 * by drawing.
 * @param {Row} row @param {boolean} draws
 */
export function describeWays({ picked, drawn }, draws) {
  return draws ? `${drawn} drew it, ${picked} picked it` : "";
}

/** Describe how many of the students who are present have answered. @param {number} answered @param {number} here */
export function describeAnswered(answered, here) {
  if (!here && !answered) return "Nobody is here yet.";
  return `${here} here, ${answered} ${answered === 1 ? "has" : "have"} answered`;
}
