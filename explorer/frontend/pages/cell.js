// The module that a notebook cell loads first. It loads all others once per page, from a widget model that all cells
// share.

const REGISTRY = Symbol.for("gradient-explorer");
const PATIENCE_MS = 20_000;
const page = /** @type {*} */ (globalThis);

export default { render };

/** Load the library, and show the widget in its notebook cell. @param {*} props anywidget's arguments */
async function render({ model, el, signal }) {
  const startTime = performance.now();
  el.textContent = "Loading the gradient explorer …";
  const libraries = /** @type {Map<string, Promise<*>>} */ (page[REGISTRY] ??= new Map());
  const hash = model.get("_hash");
  const ask = (/** @type {[string, *, AbortSignal?]} */ ...question) => askKernel(model, ...question);
  try {
    const library = await model.widget_manager.get_model(model.get("_library")).catch(() => null);
    if (!libraries.has(hash)) libraries.set(hash, unpack(library, ask));
    const { mount } = await libraries.get(hash);
    if (signal?.aborted) return undefined;
    el.replaceChildren();
    const isLive = library?.comm_live !== false; // false in a notebook that was saved with its widgets: nothing answers
    return mount({ model, el, startTime, ask: isLive ? ask : null });
  } catch (/** @type {*} */ error) {
    libraries.delete(hash);
    el.textContent = `The gradient explorer could not be loaded (${error.message}): run the cell again.`;
    return undefined;
  }
}

/**
 * Send a question to the notebook's kernel. Returns its answer with binary buffers.
 * @param {*} model @param {string} question @param {*} args @param {AbortSignal} [signal] cancels the question
 * @returns {Promise<{message: *, buffers: *}>}
 */
function askKernel(model, question, args, signal) {
  const id = crypto.randomUUID();
  let receive = /** @type {*} */ (null);
  const answer = new Promise((resolve, reject) => {
    receive = (/** @type {*} */ message, /** @type {*} */ buffers) =>
      message.id === id && resolve({ message, buffers });
    for (const end of [AbortSignal.timeout(PATIENCE_MS), signal])
      end?.addEventListener("abort", () => reject(new Error("the kernel does not answer")));
    model.on("msg:custom", receive);
    Promise.resolve(model.send({ id, question, arguments: args })).catch(reject); // rejects if the kernel is gone
  });
  return answer.finally(() => model.off("msg:custom", receive));
}

/**
 * Load the library's modules and Plotly, and set up the page. Some notebooks, such as Colab, keep no binary data in
 * widget models; there the kernel sends them.
 * @param {*} library the shared widget model @param {(question: string, args: *) => Promise<{buffers: *}>} ask
 */
async function unpack(library, ask) {
  const parts = ["code", "plotly"].map((name) => library?.get(name));
  const isComplete = parts.every((part) => part?.byteLength);
  const [code, plotly] = isComplete ? parts : (await ask("library", {})).buffers;
  const bundle = JSON.parse(await unzip(code));
  const { begin } = await load(bundle.modules);
  return begin(bundle, unzip(plotly).then(loadPlotly));
}

/** Unpack gzip data to text. @param {*} packed */
function unzip(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** Import a JavaScript module from its source, as anywidget does. @param {string} source */
async function load(source) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Load the library's version of Plotly without replacing the notebook's own. @param {string} source */
async function loadPlotly(source) {
  const previous = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  const prefix = "const module = { exports: {} }, exports = module.exports, define = undefined;\n";
  const { default: Plotly } = await load(`${prefix}${source}\nexport default module.exports;`);
  if (previous) Object.defineProperty(globalThis, "Plotly", previous);
  else delete page.Plotly;
  return Plotly;
}
