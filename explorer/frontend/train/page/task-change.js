// Another task: it keeps op and rules that were chosen, or asks whether it may; each answer can be undone.

import { entriesOf } from "../../choice/choice.js";
import { find } from "../../choice/entries.js";
import { takesOwn, taskNamed, taskOf, withTask, withTaskAlone } from "../state/tasks.js";

/** @import { State } from "../state/state.js" */

/** @param {import("./controller.js").Page} page */
export function createTaskChange({ now, state, become, choose }) {
  return {
    /** @param {string} key of the task */
    onTask(key) {
      const asks = state().drawn && takesOwn(now(), key);
      become({ changing: asks ? { key, before: now(), done: false } : null });
      if (!asks) choose(withTask(now(), key));
    },
    /** @param {boolean} keep whether op and rules stay */
    onAnswer(keep) {
      const { changing } = state();
      if (!changing) return;
      become({ changing: { ...changing, done: true } });
      choose((keep ? withTaskAlone : withTask)(now(), changing.key));
    },
    onUndo() {
      const { changing } = state();
      become({ changing: null });
      if (changing) choose(changing.before);
    },
  };
}

/** The question of a task, or what it did; null where there is nothing to say. @param {State} state */
export function asksOf({ changing, choice }) {
  if (!changing) return null;
  const { label, begins } = taskNamed(changing.key);
  const { op } = entriesOf(choice);
  if (changing.done) {
    if (taskOf(choice).key !== changing.key) return null;
    return { text: `${label} with ${op.label.toLowerCase()}.`, own: "", keep: "" };
  }
  const own = find("op", begins.op)?.label.toLowerCase() ?? begins.op;
  const count = begins.rules.length;
  return {
    text: `${label} has an op and rules of its own.`,
    own: `Use its own: ${own} and ${count} rule${count > 1 ? "s" : ""}`,
    keep: `Keep ${op.label.toLowerCase()}`,
  };
}
