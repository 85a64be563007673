// The records that the server streams, by their classes in Python.
// Written by `python -m explorer.ui.server.runs.records`: change the classes, and run it.

/**
 * @typedef {object} Gradients
 * @property {number} w1
 * @property {number} w2
 * @property {number} w1_moved
 * @property {number|null} passed
 * @property {number} blocked
 * @property {number} idle_units
 */
/**
 * @typedef {object} Snapshot
 * @property {number} step
 * @property {number} steps
 * @property {boolean} finished
 * @property {string} task
 * @property {number} seeds
 * @property {Object<string, number>} going
 * @property {Object<string, Float32Array>} losses
 * @property {Object<string, Float32Array>} loss_sd
 * @property {Object<string, Float32Array>} w1_norms
 * @property {Object<string, Float32Array>} w2_norms
 * @property {Object<string, Int32Array>} loss_steps
 * @property {Object<string, number|null>} loss
 * @property {"accuracy"|"R²"|null} metric
 * @property {number} held_out
 * @property {number|null} chance
 * @property {Object<string, Float32Array|null>} score
 * @property {Object<string, Float32Array>} scores
 * @property {Object<string, Float32Array>} score_sd
 * @property {Int32Array} score_steps
 * @property {Object<string, number|null>} diverged
 * @property {Object<string, string|null>} fallen
 * @property {Object<string, string>} resting
 * @property {Object<string, Object<string, Float32Array>>} learned
 * @property {Object<string, Gradients|null>} gradients
 * @property {Object<string, number|null>} seed
 * @property {Object<string, Object<string, Object<string, *>|null>>} measured
 * @property {Int32Array} measured_steps
 * @property {Float32Array} measured_sigmas
 * @property {Object<string, string>} unmeasured
 * @property {Object<string, Object<string, number>>} most
 * @property {number} sigma
 * @property {number} layers
 * @property {string} device
 * @property {number} lr
 * @property {Array<[number, string, string|number]>} branch
 * @property {Array<number>} checkpoints
 */
/**
 * @typedef {object} Recorded
 * @property {string} lr
 * @property {string} branch
 */
/**
 * @typedef {object} Fields
 * @property {Array<string>} words
 * @property {string|null} device
 * @property {Object<string, string>} judged
 * @property {Recorded} [recorded]
 */
/**
 * @typedef {object} Status
 * @property {string} id
 * @property {"ready"|"waiting"|"running"|"paused"|"finished"|"diverged"|"failed"|"stopped"|"gone"|"silent"|"crowded"} state
 * @property {string} sentence
 * @property {number|null} position
 * @property {number} step
 * @property {number} steps
 * @property {number} steps_per_second
 * @property {Snapshot|null} snapshot
 */
/**
 * @typedef {object} Cell
 * @property {string} rule
 * @property {number} lr
 * @property {number} seeds
 * @property {number} diverged
 * @property {number|null} value
 * @property {number|null} mean
 */
/**
 * @typedef {object} Judgement
 * @property {string} rule
 * @property {number|null} value
 * @property {number|null} lr
 * @property {number} seeds
 * @property {number} diverged
 * @property {number|null} validation
 * @property {number|null} mean
 * @property {number|null} half
 */
/**
 * @typedef {object} Results
 * @property {Array<string>} controls
 * @property {Array<number>} lrs
 * @property {number} seeds
 * @property {string|null} metric
 * @property {number|null} chance
 * @property {number} runs
 * @property {number} most
 * @property {Array<Cell>} cells
 * @property {Array<Judgement>} judged
 * @property {Array<string>} words
 */
/**
 * @typedef {object} StudyEvent
 * @property {string} id
 * @property {string} state
 * @property {string} sentence
 * @property {number} done
 * @property {number} total
 * @property {string} left
 * @property {Results|null} results
 */
export {};
