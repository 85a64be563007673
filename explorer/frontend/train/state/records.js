// The records that the server streams, by their classes in Python.
// Written by `python -m explorer.ui.server.runs.records`: change the classes, and run it.

/**
 * @typedef {{w1: number, w2: number, w1_moved: number, passed: number|null, blocked: number,
 *   idle_units: number|null}} Gradients
 */
/**
 * @typedef {{step: number, steps: number, finished: boolean, task: string, seeds: number,
 *   going: Object<string, number>, losses: Object<string, Float32Array>,
 *   loss_low: Object<string, Float32Array>, loss_high: Object<string, Float32Array>,
 *   w1_norms: Object<string, Float32Array>, w2_norms: Object<string, Float32Array>,
 *   loss_steps: Object<string, Int32Array>, loss: Object<string, number|null>, metric: "accuracy"|"R²"|null,
 *   held_out: number, chance: number|null, score: Object<string, Float32Array|null>,
 *   scores: Object<string, Float32Array>, score_sd: Object<string, Float32Array>, score_steps: Int32Array,
 *   diverged: Object<string, number|null>, fallen: Object<string, string|null>,
 *   faults: Object<string, string>, learned: Object<string, Object<string, Float32Array>>,
 *   gradients: Object<string, Gradients|null>, seed: Object<string, number|null>,
 *   measured: Object<string, Object<string, Object<string, *>|null>>, measured_steps: Int32Array,
 *   measured_sigmas: Float32Array, unmeasured: Object<string, string>,
 *   most: Object<string, Object<string, number>>, sigma: number, layers: number, device: string, lr: number,
 *   branch: Array<[number, string, string|number]>, checkpoints: Array<number>}} Snapshot
 */
/**
 * @typedef {{lr: string, branch: string}} Recorded
 */
/**
 * @typedef {{text: string, panel: string, why: string, layer: number|null, other: string|null}} Line
 */
/**
 * @typedef {{conclusion: string, device: string|null, judged: Object<string, string>,
 *   lines: Object<string, Line>, headline: string, recorded?: Recorded}} Fields
 */
/**
 * @typedef {{id: string,
 *   state: "ready"|"waiting"|"running"|"paused"|"finished"|"diverged"|"failed"|"stopped"|"gone"|"silent"|"crowded",
 *   sentence: string, position: number|null, step: number, steps: number, steps_per_second: number,
 *   snapshot: Snapshot|null}} Status
 */
/**
 * @typedef {{rule: string, lr: number, seeds: number, diverged: number, mean: number|null}} Cell
 */
/**
 * @typedef {{rule: string, lr: number|null, share: number|null}} JudgedRule
 */
/**
 * @typedef {{first: string, second: string, lower: number, sure: boolean}} Standing
 */
/**
 * @typedef {{controls: Array<string>, lrs: Array<number>, seeds: number, metric: string|null,
 *   decimals: number, chance: number|null, runs: number, most: number, cells: Array<Cell>,
 *   judged: Array<JudgedRule>, figure: *, equal: Array<string>, standings: Array<Standing>, headline: string,
 *   words: Array<string>}} Results
 */
/**
 * @typedef {{id: string, state: string, sentence: string, done: number, total: number, left: string,
 *   results: Results|null}} StudyEvent
 */
/**
 * @typedef {{text: string, target: string|null, without: Array<string>}} Table
 */
/**
 * @typedef {{name: string, low: number|null, high: number|null, different: number,
 *   classes: Array<[string, number]>, fault: string, suggested: string}} Column
 */
/**
 * @typedef {{rows: number, named: boolean, delimiter: string, decimal: string, columns: Array<Column>,
 *   head: Array<Array<string>>, target: string|null, without: Array<string>, refused: string,
 *   unusable: number, worst: string, complete: string, chance: number|null}} Survey
 */
export {};
