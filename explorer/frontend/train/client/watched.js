// Work that a server does and a page watches: what is pressed shows at once, and then what the server says.

import { createFeed } from "./events.js";

/** The displayed state of the work. @template S @typedef {{status: S, notice: string, lost: boolean, id: string|null}} View */

/**
 * ``onEvent`` is called with what the server sends; ``current`` gives the work there is now, and ``needsWatching``
 * says whether there is more to come of it.
 * @template {object} S
 * @param {{idle: S, address: (id: string) => string, current: () => {id: string}|null,
 *   onChange: (view: View<S>) => void, onEvent: (event: *) => void, needsWatching?: (status: S) => boolean}} options
 */
export function createWatched({ idle, address, current, onChange, onEvent, needsWatching = () => true }) {
  let view = /** @type {View<S>} */ ({ status: idle, notice: "", lost: false, id: null });
  let line = /** @type {Promise<*>} */ (Promise.resolve()); // what was pressed is done in its order
  let waiting = 0;
  const feed = createFeed({ address, onEvent, onLost: () => show({ lost: true }) });

  /** @param {Partial<View<S>>} next */
  function show(next) {
    view = { ...view, ...next, id: current()?.id ?? null };
    onChange(view);
  }

  /** Ask the server once all that was pressed before is done. @param {() => Promise<*>} ask */
  function inTurn(ask) {
    line = line.then(ask);
    return line;
  }

  /**
   * Show at once what is to come, ask the server in turn, and show what it says of the last thing asked.
   * @param {Partial<S>} soon
   * @param {() => Promise<*>} ask
   */
  function act(soon, ask) {
    feed.close();
    waiting += 1;
    show({ status: { ...view.status, ...soon }, notice: "", lost: false });
    line = inTurn(ask).then((answer) => {
      waiting -= 1;
      if (answer?.message) show({ notice: answer.message });
      if (waiting) return;
      if (answer?.state) onEvent(answer);
      const work = current();
      if (!work) show({ status: idle });
      else if (needsWatching(view.status)) feed.open(work.id);
    });
  }

  return {
    get view() {
      return view;
    },
    /** Whether the server has not yet done all that was pressed. */
    get isBusy() {
      return waiting > 0;
    },
    act,
    inTurn,
    show,
    /** Watch the work there is now, from its present state on. */
    open() {
      const work = current();
      if (work) feed.open(work.id);
    },
    close: feed.close,
    destroy: feed.destroy,
  };
}
