// The status of a run, with the sentence that describes it.

import { getCatalogue } from "../../choice/entries.js";
import { fillTemplate } from "../../formula/phrases.js";

/** @import { Fields } from "./records.js" */
/** An event of a run's stream: its status, with sentences. @typedef {import("./records.js").Status & Fields} Event */
/**
 * The status of a run.
 * @typedef {Omit<Event, "id"|"state"|"position"> & {state: Event["state"]|"idle", id?: string}} Status as in the
 *   server's events, or "idle" without a run
 * @typedef {{status: Status, notice: string, lost: boolean, id: string|null}} View the displayed run; ``notice``: why
 *   the last action failed, or ""; ``lost``: whether the connection is interrupted
 */

export const ACTIVE = ["waiting", "running"];
export const AT_REST = ["ready", "paused"];
export const OVER = ["finished", "diverged"];
export const UNAVAILABLE = ["failed", "stopped", "gone"];

/** @type {Status} */
export const IDLE = {
  state: "idle",
  sentence: "Ready: press Start.",
  step: 0,
  steps: 0,
  steps_per_second: 0,
  snapshot: null,
  conclusion: "",
  device: null,
  judged: {},
  lines: {},
  headline: "",
};

/**
 * Return the sentence about a run's state that is shown until the server sends its own.
 * @param {"ready"|"running"|"paused"} state @param {number} [step]
 */
export function getSentence(state, step = 0) {
  return fillTemplate(getCatalogue().sentences[state], { step, note: "" });
}

/**
 * Return a status in which the displayed measurements fill the gaps: the server answers commands without measurements,
 * and may measure the regions of one rule only.
 * @param {Status} status @param {Status} before the displayed status @returns {Status}
 */
export function withMeasured(status, { snapshot: displayed }) {
  const { snapshot } = status;
  if (!snapshot || !displayed) return status;
  const { measured, measured_steps, measured_sigmas } = displayed;
  const isEmpty = Object.keys(snapshot.measured).length === 0;
  const steps = isEmpty ? { measured_steps, measured_sigmas } : {}; // steps must be as long as the series
  const known = Object.entries(snapshot.measured.regions ?? {}).map(([rule, record]) => [
    rule,
    record ?? (snapshot.diverged[rule] === null ? (measured.regions?.[rule] ?? null) : null),
  ]);
  const regions = Object.fromEntries(known.length ? [["regions", Object.fromEntries(known)]] : []);
  return {
    ...status,
    snapshot: { ...snapshot, ...steps, measured: { ...measured, ...snapshot.measured, ...regions } },
  };
}
