// Questions answered by a notebook's kernel, by messages of a widget.

import { TIMEOUT_MS } from "../choice/server.js";

const SILENT = { message: "The kernel does not answer: it is busy, or gone.", again: true };

/**
 * Create a function that asks the kernel.
 * @param {*} model
 * @param {AbortSignal} end of the cell
 * @returns {import("./ask.js").Ask}
 */
export function createKernelAsk(model, end) {
  const name = crypto.randomUUID();
  const waiting = /** @type {Map<string, (answer: import("./ask.js").Answer) => void>} */ (new Map());
  let count = 0;
  const handleMessage = (/** @type {*} */ { id, answer }) => waiting.get(id)?.(answer);
  model.on("msg:custom", handleMessage);
  end.addEventListener("abort", () => model.off("msg:custom", handleMessage));

  /** @type {(...of: Parameters<import("./ask.js").Ask>) => Promise<import("./ask.js").Answer>} */
  async function ask(question, args, { signal } = {}) {
    const id = `${name}.${(count += 1)}`;
    const timeout = AbortSignal.timeout(TIMEOUT_MS);
    const answer = new Promise((resolve) => {
      waiting.set(id, resolve);
      for (const each of [timeout, signal, end]) each?.addEventListener("abort", () => resolve(SILENT));
      Promise.resolve(model.send({ id, question, arguments: args })).catch(() => resolve(SILENT)); // the kernel is gone
    });
    return answer.finally(() => waiting.delete(id));
  }

  return Object.assign(ask, { has: () => true });
}
