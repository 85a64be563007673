// The events of a run or study from the server; a lost connection is opened again.

const RETRY_MS = 1000;

/**
 * A feed of one at a time. ``address`` is that of its events by its id; ``onEvent`` gets each status,
 * ``onLost`` that the connection is lost.
 * @param {{address: (id: string) => string, onEvent: (status: *) => void, onLost: () => void}} options
 */
export function createFeed({ address, onEvent, onLost }) {
  /** @type {EventSource|null} */
  let source = null;
  /** @type {string|null} */
  let watched = null;
  let timer = 0;
  const end = new AbortController();
  addEventListener("offline", () => watched && lost(), { signal: end.signal });
  addEventListener("online", () => watched && open(watched), { signal: end.signal });

  /** Watch one: the first event has all there is to see. @param {string} run its id */
  function open(run) {
    close();
    watched = run;
    source = new EventSource(address(run));
    source.onmessage = (message) => onEvent(JSON.parse(message.data));
    source.onerror = lost;
  }

  function lost() {
    const run = /** @type {string} */ (watched);
    close();
    watched = run;
    timer = setTimeout(() => open(run), RETRY_MS);
    onLost();
  }

  function close() {
    clearTimeout(timer);
    source?.close();
    source = watched = null;
  }

  return {
    open,
    close,
    destroy() {
      end.abort();
      close();
    },
  };
}
