// Python in a worker: questions about formulas, code and curves, by the modules that answer them in the app.

/**
 * The first message holds the files, the name of the module that answers, and the scripts that it computes with;
 * every other one a question, and modules that are needed from then on. Nothing is fetched: what Pyodide asks for
 * is among the files.
 * @typedef {Record<string, string>} Modules texts by their paths
 * @typedef {{files: Record<string, string>, packages: string, start: string, modules: Modules, browser: string,
 *   scripts: Modules}} Start files as base64 of gzip; ``browser`` is the path of the script that Python imports
 * @typedef {{question: string, input: *, modules: Modules}} Asked
 */

const NOWHERE = "https://pyodide.invalid/";
const FROM = /^((?:import|export)\b[^;"]*from )"(\.[^"]+)"/gm;
const TYPES = /** @type {Record<string, string>} */ ({ wasm: "application/wasm", mjs: "text/javascript" });

/** @type {Promise<*>|null} */
let starting = null;
let from = ""; // the module that answers
let answer = /** @type {((question: string, input: string) => string)|null} */ (null);

self.onmessage = async ({ data }) => {
  const { question, input, modules } = /** @type {Asked} */ (data);
  try {
    starting ??= start(data);
    const python = await starting;
    write(python, modules);
    const result = question && JSON.parse(ask(python, question, JSON.stringify(input)));
    self.postMessage({ answer: result });
  } catch (error) {
    self.postMessage({ failed: String(error) });
  }
};

/** @param {*} python @param {string} question @param {string} input @returns {string} the answer as JSON */
function ask(python, question, input) {
  answer ??= python.runPython(`from ${from} import answer\nanswer`);
  return /** @type {(question: string, input: string) => string} */ (answer)(question, input);
}

/** @param {*} python @param {Modules} modules */
function write(python, modules) {
  for (const [path, text] of Object.entries(modules)) {
    if (path.includes("/")) python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    python.FS.writeFile(path, text);
  }
  python.runPython("import importlib; importlib.invalidate_caches()");
}

/** @param {Start} data @returns Pyodide */
async function start({ files, packages, start: module, browser, scripts }) {
  from = module;
  self.fetch = async (address) => {
    const name = String(address).slice(NOWHERE.length);
    const headers = { "Content-Type": typeOf(name) };
    return new Response(unpacked(files[name]), { headers });
  };
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
    import(await moduleAddress(files["pyodide.mjs"])),
    import(await moduleAddress(files["pyodide.asm.mjs"])),
  ]);
  const python = await loadPyodide({ indexURL: NOWHERE, lockFileContents: packages, createPyodideModule });
  python.registerJsModule("browser", await import(scriptAddress(scripts, browser)));
  return python;
}

/**
 * An address that holds a script and, in it, those of all that it imports.
 * @param {Modules} scripts
 * @param {string} path
 * @returns {string}
 */
function scriptAddress(scripts, path) {
  const beside = (/** @type {string} */ address) => new URL(address, `file:///${path}`).pathname.slice(1);
  const text = scripts[path].replace(
    FROM,
    (_, before, address) => `${before}"${scriptAddress(scripts, beside(address))}"`,
  );
  return `data:text/javascript,${encodeURIComponent(text)}`;
}

/** @param {string} name of a file */
function typeOf(name) {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

/**
 * The bytes of a file. No Blob is read: in a worker whose address is data, WebKit cannot.
 * @param {string} packed base64 of gzip
 */
function unpacked(packed) {
  const plain = atob(packed);
  const bytes = new Uint8Array(plain.length);
  for (let index = 0; index < bytes.length; index++) bytes[index] = plain.charCodeAt(index); // megabytes
  const stream = new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
  return stream.pipeThrough(new DecompressionStream("gzip"));
}

/** An address that holds a module: a page from the disk may import no other. @param {string} packed */
async function moduleAddress(packed) {
  return `data:${TYPES.mjs},${encodeURIComponent(await new Response(unpacked(packed)).text())}`;
}
