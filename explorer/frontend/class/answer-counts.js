// Counts of a class's answers, which were picked from a list or drawn as a curve.

/**
 * @typedef {{picked: number, drawn: number, all: number}} Row how often an answer was picked, drawn, and both together
 */
/**
 * @typedef {{rows: Row[], others: number, all: number}} AnswerCounts a row for each answer; ``others``: number of
 *   drawings that resemble no answer
 */

/**
 * Count how many students of a class have picked or drawn each answer.
 * @param {number[]} counts how often each answer was picked
 * @param {number[]} alike the index of the answer that each drawing resembles, or -1 @returns {AnswerCounts}
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
 * Describe how many students of a class have picked and drawn an answer. Returns "" if the question has no drawing.
 * @param {Row} row @param {boolean} draws whether the question asks for a drawing
 * @param {string} label label of the answer's rule, or ""
 */
export function describeWays({ picked, drawn }, draws, label) {
  return draws ? `${label && `${label}: `}${drawn} drew it, ${picked} picked it` : "";
}

/** Return the id of a class as its code for display, such as "k7m-x2p-wrq". @param {string} id */
export const formatCode = (id) => id.replace("~", "-").replace(/(\w{3})(\w{3})(\w{3})$/, "$1-$2-$3");

/**
 * Describe how many of the present students have answered.
 * @param {number} answered @param {number} here number of present students
 */
export function describeAnswered(answered, here) {
  if (!here && !answered) return "Nobody is here yet.";
  return `${here} here, ${answered} ${answered === 1 ? "has" : "have"} answered`;
}
