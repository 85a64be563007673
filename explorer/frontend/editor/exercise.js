// An exercise in a lesson: the user repairs an autograd Function, and the first mistake is reported as they type.

import { element, setAttribute, setText } from "../elements/dom.js";
import { saveInSession, loadFromSession } from "../choice/session.js";
import { createCase } from "./case.js";
import { createEditor } from "./editor.js";

/**
 * An exercise, and the server's verdict on a solution.
 * @typedef {{key: string, task: string, code: string}} Exercise ``task``: the instructions; ``code``: the Function to
 *   repair
 * @typedef {{kind: "right"|"wrong"|"unread", sentence: string, line: number, case: import("./case.js").Case|null,
 *   choice: *, drawn: string}} Verdict the result of a test; ``line``: the faulty line, or 0; ``case``: the first
 *   failing test case, or null; ``choice``: settings that plot the solution; ``drawn``: a description of its curves
 */

const HINT = "torch, nn, F, math and np are imported. Your code is read, never run.";
const OLD_TEXT = "The chart shows your code as it was before this mistake.";
const ROWS = 12;
const AGAIN_MS = 2000; // minimum pause before a failed request is repeated; the maximum is twice as long

/**
 * Create the exercise of a lesson, with a button that opens its code editor.
 * @param {Exercise} exercise
 * @param {{ask: import("../asking/ask.js").Ask, onBegin: (layer: ReturnType<typeof createCase>) => void, onDraw:
 *   (choice: *) => void}} options ``onBegin``: called with the overlay for the chart when the exercise is opened;
 *   ``onDraw``: called with settings that plot a solution
 */
export function createExercise(exercise, { ask: askPython, onBegin, onDraw }) {
  const name = `exercise.${exercise.key}`;
  const template = exercise.code.trimEnd();
  const layer = createCase();
  const status = element("p", { class: "judged", role: "status" });
  const description = element("p", { class: "seen" });
  let text = loadFromSession(name) ?? template;
  let isAsking = false;
  let isDrawn = false; // whether the chart shows a solution
  let timer = 0;
  const editor = createEditor({ label: "Your Function", ...{ text, rows: ROWS }, onRest: judgeText });
  const begin = element("button", { onclick: open }, "Write it yourself");
  const section = element("section", { class: "exercise", "aria-label": "Write it yourself" }, begin);

  function open() {
    const restart = element("button", { onclick: startAgain }, "Start again");
    section.replaceChildren(
      element("p", { class: "task" }, exercise.task),
      status,
      description,
      editor.element,
      element("p", { class: "given" }, HINT, " ", restart),
    );
    onBegin(layer);
    judgeText(text);
    editor.focus();
    section.scrollIntoView({ block: "start" });
  }

  function startAgain() {
    editor.set(template);
    judgeText(template);
    editor.focus();
  }

  /** @param {string} content */
  function judgeText(content) {
    text = content;
    saveInSession(name, text);
    if (!isAsking) ask();
  }

  /**
   * Send the latest solution to the server. Only one request is pending at a time, because a whole class may be typing.
   */
  async function ask() {
    clearTimeout(timer);
    const sentText = text;
    isAsking = true;
    const asked = { exercise: exercise.key, code: sentText };
    const answer = await askPython("judge", asked, { onWait: (words) => showStatus("waiting", words) });
    isAsking = false;
    if (sentText !== text) return ask();
    if (answer.message !== undefined) {
      showStatus("waiting", answer.message);
      timer = setTimeout(ask, AGAIN_MS * (1 + Math.random()));
      return undefined;
    }
    showStatus(answer.kind, answer.sentence);
    editor.mark(answer.line);
    isDrawn ||= Boolean(answer.choice);
    setText(description, answer.choice || !isDrawn ? answer.drawn : OLD_TEXT);
    layer.show(answer.case);
    return answer.choice && onDraw(answer.choice);
  }

  /** @param {string} kind @param {string} words */
  function showStatus(kind, words) {
    setAttribute(status, "data-kind", words ? kind : null);
    status.replaceChildren(words);
  }

  return {
    element: section,
    destroy() {
      clearTimeout(timer);
      editor.destroy();
    },
  };
}
