// The session's study: what is pressed shows at once, and then what the server says.

import { post } from "../choice/server.js";
import { createFeed } from "../train/client/events.js";
import { keep, load, owner } from "../choice/session.js";
import { ACTIVE, IDLE } from "./state.js";

/** @import { Status, View } from "./state.js" */
/**
 * A study to begin: the query of a link, and the table, which is never in one.
 * @typedef {{query: string, table: string|null}} Order
 */

const WATCHED = [...ACTIVE, "paused", "finished", "silent"]; // while it is looked at, the server keeps it

/**
 * @param {{server: (path: string) => string, onChange: (view: View) => void}} options
 */
export function createSession({ server, onChange }) {
  let study = load("study");
  let view = /** @type {View} */ ({ status: IDLE, notice: "", lost: false, id: null });
  let line = Promise.resolve(); // what was pressed is done in its order
  let waiting = 0;
  const address = (/** @type {string} */ id) => server(`studies/${id}/events`);
  const feed = createFeed({ address, onEvent, onLost: () => show({ lost: true }) });

  /** @param {Partial<View>} next */
  function show(next) {
    view = { ...view, ...next, id: study && study.id };
    onChange(view);
  }

  /** @param {import("../train/state/records.js").StudyEvent} event */
  function onEvent(event) {
    const status = { ...IDLE, ...event, results: event.results ?? view.status.results };
    show({ status, notice: view.lost ? "" : view.notice, lost: false });
    if (!WATCHED.includes(status.state)) feed.close();
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
      if (answer?.state) onEvent(answer);
      if (study) feed.open(study.id);
      else show({ status: IDLE });
    });
  }

  /** @param {string} name */
  async function commanded(name) {
    return study && post(server(`studies/${study.id}/${name}`), { key: study.key });
  }

  /** @param {Order} order */
  async function started({ query, table }) {
    const answer = await post(server("studies"), { query, owner: owner(), ...(table !== null && { table }) });
    if (answer.id) known(answer);
    return answer;
  }

  /** @param {{id: string, key: string}|null} next */
  function known(next) {
    study = next;
    keep("study", next);
  }

  return {
    /** Watch the study that this session started before the page was loaded. */
    watch() {
      if (study) feed.open(study.id);
    },
    /** @param {Order} order */
    begin(order) {
      act({ ...IDLE, state: "running", sentence: "Starting." }, () => {
        known(null);
        return started(order);
      });
    },
    stop: () => act({ state: "paused", sentence: "Stopping." }, () => commanded("stop")),
    resume: () => act({ state: "running", sentence: "Going on." }, () => commanded("resume")),
    /** Let it go. */
    drop: () =>
      act(IDLE, async () => {
        await commanded("drop");
        known(null);
      }),
    destroy: feed.destroy,
  };
}
