// Counts of a class's answers, which were picked from a list or drawn as a curve.

/**
 * @typedef {{picked: number, drawn: number, all: number}} Row how often one answer was picked, drawn, and both together
 */
/**
 * @typedef {{rows: Row[], others: number, all: number}} AnswerCounts a row for each answer; ``others``: drawings like no
 *   answer
 */

/**
 * Count how many students of a class picked or drew each answer.
 * @param {number[]} counts how often each answer was picked
 * @param {number[]} alike for each drawing the index of the most similar answer, -1 for none @returns {AnswerCounts}
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
 * Describe how many students of a class picked and drew an answer. Returns "" if the question has no drawing.
 * @param {Row} row @param {boolean} draws whether the question asks for a drawing
 * @param {string} label of the answer's rule, "" if it has none
 */
export function describeWays({ picked, drawn }, draws, label) {
  return draws ? `${label && `${label}: `}${drawn} drew it, ${picked} picked it` : "";
}

/** Return a class's id as its code for display, such as "k7m-x2p-wrq". @param {string} id */
export const formatCode = (id) => id.replace("~", "-").replace(/(\w{3})(\w{3})(\w{3})$/, "$1-$2-$3");

/**
 * Describe how many of the present students have answered.
 * @param {number} answered @param {number} here number of present students
 */
export function describeAnswered(answered, here) {
  if (!here && !answered) return "Nobody is here yet.";
  return `${here} here, ${answered} ${answered === 1 ? "has" : "have"} answered`;
}
