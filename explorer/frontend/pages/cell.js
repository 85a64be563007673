// The module that a notebook cell loads first. It loads all others once per page, from a widget model that all cells
// share.

const REGISTRY = Symbol.for("gradient-explorer");
const PATIENCE_MS = 20_000;
const page = /** @type {*} */ (globalThis);

export default { render };

/** @param {*} props the arguments from anywidget */
async function render({ model, el, signal }) {
  el.textContent = "Loading the gradient explorer …";
  const libraries = /** @type {Map<string, Promise<*>>} */ (page[REGISTRY] ??= new Map());
  const hash = model.get("_hash");
  try {
    const library = await model.widget_manager.get_model(model.get("_library")).catch(() => null);
    if (!libraries.has(hash)) libraries.set(hash, unpack(library, model));
    const mount = await libraries.get(hash);
    if (signal?.aborted) return undefined;
    el.replaceChildren();
    const isLive = library?.comm_live !== false; // false in a notebook that was saved with its widgets: nothing answers
    return mount({ model, el, ask: isLive ? askKernel : null });
  } catch (/** @type {*} */ error) {
    libraries.delete(hash);
    el.textContent = `The gradient explorer could not be loaded (${error.message}): run the cell again.`;
    return undefined;
  }
}

/**
 * Send a question to the notebook's kernel. Resolves to its answer with binary buffers, or to null if it does not
 * answer in time.
 * @param {*} model @param {string} question @param {*} args
 * @param {AbortSignal} [signal] a signal that cancels the question @returns {Promise<*>}
 */
function askKernel(model, question, args, signal) {
  return new Promise((resolve) => {
    const id = crypto.randomUUID();
    const receive = (/** @type {*} */ message, /** @type {*} */ buffers) =>
      message.id === id && end({ ...message, buffers });
    const end = (/** @type {*} */ reply) => {
      model.off("msg:custom", receive);
      resolve(reply);
    };
    for (const each of [AbortSignal.timeout(PATIENCE_MS), signal])
      each?.addEventListener("abort", () => end(null));
    model.on("msg:custom", receive);
    Promise.resolve(model.send({ id, question, arguments: args })).catch(() => end(null)); // the kernel is gone
  });
}

/**
 * Load the library's modules and Plotly, and set up the page. Some notebooks, such as Colab, keep no binary data in
 * widget models; there the kernel sends them.
 * @param {*} library the widget model that all cells share @param {*} model a widget that can ask the kernel
 */
async function unpack(library, model) {
  const code = library?.get("code");
  const packed = code?.byteLength ? code : (await askKernel(model, "library", {}))?.buffers[0];
  if (!packed) throw new Error("the kernel does not answer");
  const bytes = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { modules, plotly, ...data } = await new Response(bytes).json();
  const { begin } = await load(modules);
  return begin(data, loadPlotly(plotly));
}

/** Import a JavaScript module from its source. @param {string} source */
async function load(source) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Load the library's version of Plotly without replacing the notebook's own. @param {string} source its script */
async function loadPlotly(source) {
  const previous = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  const prefix = "const module = { exports: {} }, exports = module.exports, define = undefined;\n";
  const { default: Plotly } = await load(`${prefix}${source}\nexport default module.exports;`);
  if (previous) Object.defineProperty(globalThis, "Plotly", previous);
  else delete page.Plotly;
  return Plotly;
}
