// The first module in a notebook's cell. It loads the rest once for all cells of a page, from a model that they share.

const REGISTRY = Symbol.for("gradient-explorer");
const PATIENCE_MS = 20_000;
const page = /** @type {*} */ (globalThis);

export default { render };

/** Load the library, and mount the widget in the cell. @param {*} props the arguments of anywidget */
async function render({ model, el, signal }) {
  const startTime = performance.now();
  el.textContent = "Loading the gradient explorer …";
  const libraries = /** @type {Map<string, Promise<*>>} */ (page[REGISTRY] ??= new Map());
  const hash = model.get("_hash");
  try {
    const library = await model.widget_manager.get_model(model.get("_library")).catch(() => null);
    if (!libraries.has(hash)) libraries.set(hash, unpack(model, library));
    const { mount } = await libraries.get(hash);
    if (signal?.aborted) return undefined;
    el.replaceChildren();
    return mount({ model, el, begun: startTime, live: library?.comm_live !== false }); // a stored state has no kernel
  } catch (/** @type {*} */ error) {
    libraries.delete(hash);
    el.textContent = `The gradient explorer could not be loaded (${error.message}): run the cell again.`;
    return undefined;
  }
}

/** Load the library's modules and Plotly, and set up the page. @param {*} model @param {*} library */
async function unpack(model, library) {
  const parts = ["code", "plotly"].map((name) => library?.get(name));
  const [code, plotly] = parts.every((part) => part?.byteLength) ? parts : await askKernel(model);
  const bundle = JSON.parse(await unzip(code));
  const { begin } = await load(bundle.modules);
  return begin(bundle, unzip(plotly).then(loadPlotly));
}

/**
 * Request the packed library from the kernel, for notebooks that keep no bytes in their models, such as Colab.
 * @param {*} model
 */
function askKernel(model) {
  const id = crypto.randomUUID();
  return new Promise((resolve, reject) => {
    setTimeout(() => reject(new Error("the kernel does not answer")), PATIENCE_MS);
    model.on(
      "msg:custom",
      (/** @type {*} */ message, /** @type {*} */ buffers) => message.id === id && resolve(buffers),
    );
    model.send({ id, question: "library" });
  });
}

/** Return the text in a gzip file. @param {*} packed */
function unzip(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** Import a module from source, as anywidget imports this one. @param {string} source */
async function load(source) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Load our own Plotly; the page keeps its own if it has one. @param {string} source */
async function loadPlotly(source) {
  const previous = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  const prefix = "const module = { exports: {} }, exports = module.exports, define = undefined;\n";
  const { default: Plotly } = await load(`${prefix}${source}\nexport default module.exports;`);
  if (previous) Object.defineProperty(globalThis, "Plotly", previous);
  else delete page.Plotly;
  return Plotly;
}
