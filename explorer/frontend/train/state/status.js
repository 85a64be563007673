// The status of a run, in the words of the engine.

import { getCatalogue } from "../../choice/entries.js";
import { fillTemplate } from "../../formula/phrases.js";

/** @import { Fields, Recorded, Snapshot } from "./records.js" */
/** @typedef {import("./records.js").Status & Fields} Event */
/**
 * A run as an event has it; "idle" before there is one.
 * @typedef {Omit<Event, "id"|"state"|"position"> & {state: Event["state"]|"idle", id?: string}} Status
 * The run as it is displayed: ``notice`` is the refusal of an action, ``lost`` whether the connection is.
 * @typedef {{status: Status, notice: string, lost: boolean, id: string|null}} View
 */

export const ACTIVE = ["waiting", "running"];
export const AT_REST = ["ready", "paused"];
export const OVER = ["finished", "diverged"];
export const LOST = ["failed", "stopped", "gone"];

/** @type {Status} */
export const IDLE = {
  state: "idle",
  sentence: "Ready: press Start.",
  step: 0,
  steps: 0,
  steps_per_second: 0,
  snapshot: null,
  words: [],
  device: null,
  judged: {},
  lines: {},
  headline: "",
};

/**
 * The sentence on a run in a state, before the engine itself says so.
 * @param {"ready"|"running"|"paused"} state
 * @param {number} [step]
 */
export function sentenceOf(state, step = 0) {
  return fillTemplate(getCatalogue().sentences[state], { step, note: "" });
}

/**
 * A status with what instruments showed last, where it comes without: the answer to a command does.
 * @param {Status} status
 * @param {Status} before
 * @returns {Status}
 */
export function withMeasured(status, { snapshot: displayed }) {
  const { snapshot } = status;
  if (!snapshot || !displayed) return status;
  const { measured, measured_steps, measured_sigmas } = displayed;
  const without = Object.keys(snapshot.measured).length === 0;
  const taken = without ? { measured_steps, measured_sigmas } : {}; // as many as the series have points
  return { ...status, snapshot: { ...snapshot, ...taken, measured: { ...measured, ...snapshot.measured } } };
}
