// The controller of a change of task. The user is asked before their own op and rules are replaced, and can undo it.

import { getEntries } from "../../choice/choice.js";
import { findEntry } from "../../choice/entries.js";
import { removeRefused } from "../state/remedies.js";
import * as tasks from "../state/tasks.js";

/** @import { Choice } from "../../choice/choice.js" */
/** @import { State } from "../state/state.js" */

/** Create the controller of a change of task. @param {import("./model.js").Page} page */
export function createTaskChange({ now, state, become, choose }) {
  /**
   * Replace the settings. Offer to undo this if something of the user is lost or ``answered`` is true.
   * @param {Choice} after the new settings @param {boolean} [answered] whether the user was asked first
   */
  function change(after, answered = false) {
    const before = now();
    const { key } = tasks.getSelectedTask(after);
    const isTold = answered || tasks.hasMore(before, after) || tasks.hasOwnEntries(after);
    become({ why: null, changing: isTold ? { key, before, after } : null });
    choose(after);
  }

  return {
    /** Change the task, or ask first whether op and rules stay. @param {string} key the new task */
    onTask(key) {
      const asks = tasks.willReplaceEntries(now(), key);
      if (asks) become({ changing: { key, before: now(), after: null } });
      else change(tasks.withTask(now(), key));
    },
    /** @param {boolean} keep whether op and rules stay */
    onAnswer(keep) {
      const { changing } = state();
      if (changing?.after) change(tasks.withTaskOp(now()), true);
      else if (changing) change((keep ? tasks.withTaskAlone : tasks.withTask)(now(), changing.key), true);
    },
    onOwnOp: () => change(tasks.withTaskOp(now())),
    onRemoval: () => choose(removeRefused(now())),
    onUndo() {
      const { changing } = state();
      become({ changing: null });
      if (changing) choose({ ...changing.before, section: now().section, tools: now().tools });
    },
  };
}

/** Return the question or note about a change of task, or null if there is none. @param {State} state */
export function getChangeQuestion({ changing, choice }) {
  if (!changing) return null;
  const { label, begins } = tasks.findTask(changing.key);
  const { op } = getEntries(choice);
  const opName = findEntry("op", begins.op)?.inside ?? begins.op;
  const count = begins.rules.length;
  const own = `Use its own: ${opName} and ${count} rule${count > 1 ? "s" : ""}`;
  if (changing.after) {
    const { after } = changing;
    const isStill =
      tasks.getSelectedTask(choice).key === changing.key &&
      !tasks.hasMore(after, choice) &&
      !tasks.hasMore(choice, after);
    const text = `${label} with ${describeChanges(changing.before, choice)}.`;
    return isStill ? { text, own: tasks.hasOwnEntries(choice) ? own : "", keep: "" } : null;
  }
  return {
    text: `${label} has an op and rules of its own.`,
    own,
    keep: `Keep ${op.inside}`,
  };
}

/** Describe what a task has replaced. @param {Choice} before @param {Choice} after */
function describeChanges(before, after) {
  const [op, newOp] = [before, after].map((choice) => getEntries(choice).op.inside);
  const [keys, newKeys] = [before, after].map(({ rules }) => rules.map(({ key }) => key));
  const parts = [op === newOp ? op : `${newOp}, not ${op}`];
  const count = `${newKeys.length} rule${newKeys.length > 1 ? "s" : ""}`;
  const isMore = newKeys.length !== keys.length;
  if (String(keys) !== String(newKeys)) parts.push(count + (isMore ? `, not ${keys.length}` : " instead"));
  const { task: _, ...settings } = before.training;
  const lost = Object.keys(settings).filter((name) => settings[name] !== after.training[name]);
  const nameLost = (/** @type {string} */ name) =>
    `${tasks.nameSetting(name)} ${tasks.getSetting(after, name) ?? "as usual"}, not ${settings[name]}`;
  return [...parts, ...lost.map(nameLost)].join("; ");
}
