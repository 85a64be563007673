// The session's study: what is pressed shows at once, and then what the server says.

import { post } from "../choice/server.js";
import { keep, load, owner } from "../choice/session.js";
import { createWatched } from "../train/client/watched.js";
import { ACTIVE, IDLE } from "./state.js";

/** @import { Status, View } from "./state.js" */
/**
 * A study to begin: the query of a link, and the table, which is never in one.
 * @typedef {{query: string, table: import("../train/state/own-table.js").OwnTable|null}} Order
 */

const WATCHED = [...ACTIVE, "paused", "finished", "silent"]; // while it is looked at, the server keeps it

/**
 * @param {{server: (path: string) => string, onChange: (view: View) => void}} options
 */
export function createSession({ server, onChange }) {
  let study = load("study");
  const watched = createWatched({
    idle: IDLE,
    address: (id) => server(`studies/${id}/events`),
    current: () => study,
    onChange,
    onEvent,
  });
  const { act } = watched;

  /** @param {import("../train/state/records.js").StudyEvent} event */
  function onEvent(event) {
    const { status: last, lost, notice } = watched.view;
    const status = { ...IDLE, ...event, results: event.results ?? last.results };
    watched.show({ status, notice: lost ? "" : notice, lost: false });
    if (!WATCHED.includes(status.state)) watched.close();
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
    watch: watched.open,
    /** @param {Order} order */
    begin(order) {
      act({ ...IDLE, state: "running", sentence: "Starting." }, () => {
        known(null);
        return started(order);
      });
    },
    stop: () => act({ state: "paused", sentence: "Stopping." }, () => commanded("pause")),
    resume: () => act({ state: "running", sentence: "Going on." }, () => commanded("resume")),
    /** Let it go. */
    drop: () =>
      act(IDLE, async () => {
        await commanded("stop");
        known(null);
      }),
    destroy: watched.destroy,
  };
}
