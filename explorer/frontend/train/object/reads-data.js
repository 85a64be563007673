// The examples beside the net: images or columns, points of a plane, or where a table will be. No page.

import { remedyOf } from "../state/remedies.js";
import { isTableMissing, taskOf } from "../state/tasks.js";

/** @import { LegendEntry } from "../state/series.js" */
/** @import { Snapshot } from "../state/records.js" */
/** @import { State } from "../state/state.js" */
/**
 * Examples: ``rules`` have, by example, whether each reads it right, and are empty before the first step. ``zero`` is
 * the byte from which the bars of columns rise and fall, null for images; ``long`` whether the columns are many.
 * @typedef {{question: string, caption: string, points: [number, number, number][], examples: Uint8Array[],
 *   zero: number|null, long: boolean, rules: {line: LegendEntry, right: boolean[]}[], ink: number}} Reads
 */

const SHOWN = 24; // beside a chart, and of columns
const FEW_COLUMNS = 16; // which a small drawing can show
const NOTHING = { points: [], examples: [], zero: null, long: false, rules: [] };
/** What rules are to do: one alone, or one of several. @typedef {{one: string, several: string}} Aim */
const alike = (/** @type {string} */ text) => ({ one: text, several: text });
const AIMS = {
  image: alike("read these images"),
  rows: alike("tell these rows apart"),
  points: alike("tell the two kinds apart"),
  numbers: { one: "bring the loss down", several: "lower the loss most" },
  table: alike("learn your table"),
};

/**
 * @param {State} state
 * @param {Snapshot|null} measured of the run
 * @param {Snapshot|null} before its first step
 * @param {LegendEntry[]} lines
 * @param {boolean} begun
 * @returns {Reads|null}
 */
export function readsOf(state, measured, before, lines, begun) {
  const now = measured?.measured.reads ?? before?.measured.reads;
  const known = now && Object.values(now).find((each) => each?.values.length);
  if (!known) return begun ? null : asked(state);
  const reads = known.classes.length > 0;
  if (begun && !reads) return null;
  const isImage = taskOf(state.choice).kind === "image";
  const examples = examplesOf(known, begun || !isImage);
  const aim = reads ? (isImage ? AIMS.image : AIMS.rows) : AIMS.numbers;
  return {
    ...NOTHING,
    question: begun ? "" : questionOf(state.choice, aim),
    caption: begun ? `First ${examples.length} of ${known.of}: ● right ○ wrong` : captionOf(known, isImage),
    examples,
    zero: isImage ? null : known.zero,
    long: !isImage && known.width > FEW_COLUMNS,
    rules: begun ? rightOf(now, known, lines, examples.length) : [],
    ink: state.ink,
  };
}

/** The examples of a record, each as its bytes. @param {*} known @param {boolean} few whether ``SHOWN`` are enough */
function examplesOf({ values, width }, few) {
  const all = values.length / width;
  const count = few ? Math.min(SHOWN, all) : all;
  return Array.from({ length: count }, (_, at) => values.subarray(at * width, (at + 1) * width));
}

/** @param {Object<string, *>} now @param {*} known @param {LegendEntry[]} lines @param {number} count of examples */
function rightOf(now, { classes }, lines, count) {
  return lines.flatMap((line) => {
    const own = now[line.key];
    const right = Array.from({ length: count }, (_, at) => own?.read[at] === classes[at]);
    return own ? [{ line, right }] : [];
  });
}

/** @param {*} known @param {boolean} isImage */
function captionOf({ judged, width, columns }, isImage) {
  if (isImage) return "No net sees them while it learns.";
  const bars =
    width < columns ? `the first ${width} of its ${columns.toLocaleString("en-US")} columns` : "its columns";
  return `Each is ${judged ? "a row that no net sees while it learns" : "an example"}: ${bars} as bars.`;
}

/** What can be shown before anything is measured. @param {State} state @returns {Reads|null} */
function asked({ choice, table, ink }) {
  const { kind, picture } = taskOf(choice);
  if (isTableMissing(choice, table)) {
    const caption = "Paste one above: its rows appear here, their columns as bars.";
    return { ...NOTHING, question: questionOf(choice, AIMS.table), caption, ink };
  }
  if (kind !== "plane" || !picture || !("points" in picture)) return null;
  const caption = "Each point is an example.";
  return { ...NOTHING, question: questionOf(choice, AIMS.points), caption, points: picture.points, ink };
}

/** What will be seen, or what to do first. @param {State["choice"]} choice @param {Aim} aim */
function questionOf(choice, { one, several }) {
  const count = choice.rules.length;
  const remedy = remedyOf(choice);
  if (remedy) return remedy;
  if (count === 1) return `Will this rule ${one}?`;
  return `Which of the ${count === 2 ? "two" : `${count} rules`} will ${several}?`;
}
