// An exercise: a Function that fails, in a field; what is written is read as one types, and the first fault is named.

import { element, setAttribute, setText } from "../elements/dom.js";
import { saveInSession, loadFromSession } from "../choice/session.js";
import { createCase } from "./case.js";
import { createEditor } from "./editor.js";

/**
 * An exercise as the lesson holds it, and what is said of a text: ``choice`` draws it, ``drawn`` says what,
 * ``case`` is the first one that fails, ``line`` that of the fault, 0 for none.
 * @typedef {{key: string, task: string, code: string}} Exercise
 * @typedef {{kind: "right"|"wrong"|"unread", sentence: string, line: number,
 *   case: import("./case.js").Case|null, choice: *, drawn: string}} Verdict
 */

const GIVEN = "torch, nn, F, math and np are imported. What is written is read, never run.";
const ROWS = 12;
const AGAIN_MS = 2000; // until who got no verdict asks once more, and up to twice that

/**
 * The place of an exercise: a button, and once it is pressed the field.
 * @param {Exercise} exercise
 * @param {{ask: import("../asking/ask.js").Ask, onBegin: (layer: ReturnType<typeof createCase>) => void, onDraw: (choice: *) => void}} options
 *   ``onBegin`` is called when the exercise is opened, with the layer over the chart; ``onDraw`` with the choice that
 *   draws what was read
 */
export function createExercise(exercise, { ask: askPython, onBegin, onDraw }) {
  const name = `exercise.${exercise.key}`;
  const given = exercise.code.trimEnd();
  const layer = createCase();
  const said = element("p", { class: "judged", role: "status" });
  const seen = element("p", { class: "seen" });
  let text = loadFromSession(name) ?? given;
  let isAsking = false;
  let timer = 0;
  const editor = createEditor({
    label: "Your Function",
    ...{ text, rows: ROWS },
    onRest: judgeText,
  });
  const begin = element("button", { onclick: open }, "Write it yourself");
  const section = element("section", { class: "exercise", "aria-label": "Write it yourself" }, begin);

  function open() {
    const again = element("button", { onclick: startAgain }, "Start again");
    section.replaceChildren(
      element("p", { class: "task" }, exercise.task),
      said,
      seen,
      editor.element,
      element("p", { class: "given" }, GIVEN, " ", again),
    );
    onBegin(layer);
    judgeText(text);
    editor.focus();
    section.scrollIntoView({ block: "start" });
  }

  function startAgain() {
    editor.set(given);
    judgeText(given);
    editor.focus();
  }

  /** @param {string} content */
  function judgeText(content) {
    text = content;
    saveInSession(name, text);
    if (!isAsking) ask();
  }

  /** Of a whole class that types each waits for one answer at a time, and for the latest text. */
  async function ask() {
    clearTimeout(timer);
    const mine = text;
    isAsking = true;
    const asked = { exercise: exercise.key, code: mine };
    const answer = await askPython("judge", asked, { onWait: (words) => tell("waiting", words) });
    isAsking = false;
    if (mine !== text) return ask();
    if (answer.message !== undefined) {
      tell("waiting", answer.message);
      timer = setTimeout(ask, AGAIN_MS * (1 + Math.random()));
      return undefined;
    }
    tell(answer.kind, answer.sentence);
    editor.mark(answer.line);
    setText(seen, answer.drawn);
    layer.show(answer.case);
    return answer.choice && onDraw(answer.choice);
  }

  /** @param {string} kind @param {string} words */
  function tell(kind, words) {
    setAttribute(said, "data-kind", words ? kind : null);
    said.replaceChildren(words);
  }

  return {
    element: section,
    destroy() {
      clearTimeout(timer);
      editor.destroy();
    },
  };
}
