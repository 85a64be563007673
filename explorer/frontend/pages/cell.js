// The first lines in a notebook's cell: all else comes once for all cells of a page, from a model that they share.

const KEPT = Symbol.for("gradient-explorer");
const PATIENCE_MS = 20_000;
const page = /** @type {*} */ (globalThis);

export default { render };

/** @param {*} props those of anywidget */
async function render({ model, el, signal }) {
  const begun = performance.now();
  el.textContent = "Loading the gradient explorer …";
  const kept = /** @type {Map<string, Promise<*>>} */ (page[KEPT] ??= new Map());
  const hash = model.get("_hash");
  try {
    const library = await model.widget_manager.get_model(model.get("_library")).catch(() => null);
    if (!kept.has(hash)) kept.set(hash, unpack(model, library));
    const { mount } = await kept.get(hash);
    if (signal?.aborted) return undefined;
    el.replaceChildren();
    return mount({ model, el, begun, live: library?.comm_live !== false }); // a stored state has no kernel
  } catch (/** @type {*} */ error) {
    kept.delete(hash);
    el.textContent = `The gradient explorer could not be loaded (${error.message}): run the cell again.`;
    return undefined;
  }
}

/** @param {*} model @param {*} library */
async function unpack(model, library) {
  const held = ["code", "plotly"].map((name) => library?.get(name));
  const [code, plotly] = held.every((part) => part?.byteLength) ? held : await askKernel(model);
  const ours = JSON.parse(await unzip(code));
  const { begin } = await load(ours.modules);
  return begin(ours, unzip(plotly).then(loadPlotly));
}

/** Where a notebook keeps no bytes in its models, as Colab's does not. @param {*} model */
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

/** @param {*} packed */
function unzip(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
}

/** @param {string} source of a module, loaded in the way in which anywidget loads this one */
async function load(source) {
  const address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
  } finally {
    URL.revokeObjectURL(address);
  }
}

/** Plotly for us alone: the page may have another one, and keeps it. @param {string} source */
async function loadPlotly(source) {
  const had = Object.getOwnPropertyDescriptor(globalThis, "Plotly");
  const shut = "const module = { exports: {} }, exports = module.exports, define = undefined;\n";
  const { default: Plotly } = await load(`${shut}${source}\nexport default module.exports;`);
  if (had) Object.defineProperty(globalThis, "Plotly", had);
  else delete page.Plotly;
  return Plotly;
}
