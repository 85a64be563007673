// The session's run: what is pressed shows at once, and then what the server says.

import { withArrays } from "./data.js";
import { createFeed } from "./feed.js";

/**
 * How a run stands: the fields of an event.
 * @typedef {{state: string, sentence: string, step: number, steps: number, steps_per_second: number,
 *   snapshot: *, words: string[], device: string|null}} Status
 * What is to be seen: ``notice`` is what could not be done, ``lost`` whether the connection is.
 * @typedef {{status: Status, notice: string, lost: boolean, id: string|null}} View
 * A run that was started: ``asked`` names the settings that begin a new one when they change.
 * @typedef {{id: string, key: string, asked: string}} Started
 */

export const ACTIVE = ["waiting", "running"];
export const AT_REST = ["ready", "paused"];
export const OVER = ["finished", "diverged"];
export const LOST = ["failed", "stopped", "gone"];
const KEEPS_PICTURE = ["gone", "silent", "failed", "crowded"]; // their events come without what was seen last
const SILENT = "The server does not answer: try again in a moment.";
const PATIENCE_MS = 20_000;

/** @type {Status} */
const IDLE = {
  state: "idle",
  sentence: "Ready: press Start.",
  step: 0,
  steps: 0,
  steps_per_second: 0,
  snapshot: null,
  words: [],
  device: null,
};

/**
 * @param {{server: (path: string) => string, onChange: (view: View) => void}} options
 */
export function createRun({ server, onChange }) {
  let run = kept("run");
  let view = /** @type {View} */ ({ status: IDLE, notice: "", lost: false, id: null });
  let line = Promise.resolve(); // what was pressed is done in its order
  let waiting = 0;
  let wanted = /** @type {Object<string, string>|null} */ (null); // lr and pace, not yet sent
  const feed = createFeed({ server, onEvent: told, onLost: () => show({ lost: true }) });

  /** @param {Partial<View>} next */
  function show(next) {
    view = { ...view, ...next, id: run && run.id };
    onChange(view);
  }

  /** @param {*} event */
  function told(event) {
    const status = /** @type {Status} */ (withArrays(event));
    const keeps = KEEPS_PICTURE.includes(status.state) && !status.snapshot;
    const { step, steps, snapshot, words, device } = view.status;
    show({
      status: keeps ? { ...status, step, steps, snapshot, words, device } : status,
      notice: view.lost ? "" : view.notice,
      lost: false,
    });
    if (![...ACTIVE, ...AT_REST, "silent"].includes(status.state)) feed.close();
  }

  /**
   * Show at once what is to come, ask the server in turn, and show what it says of the last thing asked.
   * @param {Partial<Status>} soon
   * @param {() => Promise<*>} ask
   */
  function act(soon, ask) {
    feed.close();
    waiting += 1;
    show({ status: { ...view.status, ...soon }, notice: "", lost: false });
    line = line.then(ask).then((answer) => {
      waiting -= 1;
      if (answer?.message) show({ notice: answer.message });
      if (waiting) return;
      if (answer?.state) told(answer);
      if (!run) show({ status: IDLE });
      else if (!OVER.includes(view.status.state)) feed.open(run.id);
    });
  }

  /** @param {string} name @param {Object<string, *>} [more] */
  async function commanded(name, more = {}) {
    return run && post(server(`runs/${run.id}/${name}`), { key: run.key, ...more });
  }

  /** @param {string} query @param {string} asked @param {boolean} paused */
  async function started(query, asked, paused) {
    const answer = await post(server("runs"), { query, owner: owner(), paused });
    run = answer.id ? { ...answer, asked } : null;
    keep("run", run);
    return answer;
  }

  return {
    /** Under which name the present run's settings go; null where there is no run. */
    get asked() {
      return run && run.asked;
    },
    get status() {
      return view.status;
    },
    /** Watch the run that this session started before the page was loaded. */
    resume() {
      if (run) feed.open(run.id);
    },
    /** @param {string} query of a link @param {string} asked */
    begin(query, asked) {
      act({ ...IDLE, state: "running", sentence: "Starting." }, () => started(query, asked, false));
    },
    /** Begin at rest and take the first step. @param {string} query @param {string} asked */
    beginWithStep(query, asked) {
      act({ ...IDLE, state: "paused", sentence: "Taking the first step." }, async () => {
        const answer = await started(query, asked, true);
        return run ? commanded("step") : answer;
      });
    },
    pause: () =>
      act({ state: "paused", sentence: `Paused at step ${view.status.step}.` }, () => commanded("pause")),
    resumeTraining: () => act({ state: "running", sentence: "Running." }, () => commanded("resume")),
    step() {
      const moving = ACTIVE.includes(view.status.state);
      act({ state: "paused", sentence: "Taking one step." }, async () =>
        moving ? (await commanded("pause"), commanded("step")) : commanded("step"),
      );
    },
    reset: () =>
      act(
        { ...IDLE, state: run ? "ready" : "idle", sentence: "Ready at step 0: press Start or Step." },
        async () => {
          const answer = await commanded("reset");
          if (answer?.state === "gone") forget();
          return run ? answer : null;
        },
      ),
    /** Go on with another lr or pace; of many in a row the last one counts. @param {Object<string, string>} live */
    change(live) {
      const queued = wanted !== null;
      wanted = live;
      if (queued) return;
      line = line
        .then(() => {
          const last = /** @type {Object<string, string>} */ (wanted);
          wanted = null;
          return commanded("change", last);
        })
        .then((answer) => {
          if (answer?.message) show({ notice: answer.message });
        });
    },
    /** Let the run go: other settings are chosen. */
    drop: () =>
      act(IDLE, async () => {
        await commanded("stop");
        forget();
      }),
    destroy: feed.destroy,
  };

  function forget() {
    run = null;
    keep("run", null);
  }
}

/** The answer of the server to a request; a message where it gives none. @param {string} address @param {*} body */
async function post(address, body) {
  try {
    const response = await fetch(address, {
      method: "POST",
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return await response.json();
  } catch {
    return { message: SILENT };
  }
}

/** This session's name, so that it has one active run. */
function owner() {
  const known = kept("owner");
  if (known) return known;
  const made = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
  keep("owner", made);
  return made;
}

/** @param {string} name */
function kept(name) {
  return JSON.parse(sessionStorage.getItem(`gradient-explorer.${name}`) ?? "null");
}

/** @param {string} name @param {*} value */
function keep(name, value) {
  sessionStorage.setItem(`gradient-explorer.${name}`, JSON.stringify(value));
}
