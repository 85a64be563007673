// Python in a worker: questions about formulas, code and curves, answered by the same modules as in the app.

/**
 * The worker's messages. The first one has all files, the module that answers questions, and the script that computes
 * for it. Each further one has a question, and further modules to load. Nothing is fetched from the network: Pyodide
 * finds all requested files in the first message.
 *
 * @typedef {Record<string, string>} Modules source texts by path
 * @typedef {{files: Record<string, string>, packages: string, start: string, modules: Modules, browser: string}} Start
 *   the first message; ``files``: gzip in base64; ``browser``: the script that Python imports
 * @typedef {{question: string, input: *, modules: Modules}} Asked a further message
 */

const NOWHERE = "https://pyodide.invalid/";
const TYPES = /** @type {Record<string, string>} */ ({ wasm: "application/wasm", mjs: "text/javascript" });

/** @type {Promise<*>|null} */
let starting = null;
let moduleName = ""; // name of the module that answers questions
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

/** @param {*} python @param {string} question @param {string} input @returns {string} JSON */
function ask(python, question, input) {
  answer ??= python.runPython(`from ${moduleName} import answer\nanswer`);
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
async function start({ files, packages, start: module, browser }) {
  moduleName = module;
  self.fetch = async (address) => {
    const name = String(address).slice(NOWHERE.length);
    const headers = { "Content-Type": typeOf(name) };
    return new Response(unpack(files[name]), { headers });
  };
  const [{ loadPyodide }, { default: createPyodideModule }] = await Promise.all([
    import(await makeModuleAddress(files["pyodide.mjs"])),
    import(await makeModuleAddress(files["pyodide.asm.mjs"])),
  ]);
  const python = await loadPyodide({ indexURL: NOWHERE, lockFileContents: packages, createPyodideModule });
  python.registerJsModule("browser", await import(`data:${TYPES.mjs},${encodeURIComponent(browser)}`));
  return python;
}

/** @param {string} name */
function typeOf(name) {
  return TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream";
}

/**
 * Return the bytes of a file as a stream. A Blob would fail: WebKit cannot read it in a worker with a data address.
 * @param {string} packed base64 of gzip
 */
function unpack(packed) {
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

/** Return a data: address of a module, because a page opened from disk can import no other. @param {string} packed */
async function makeModuleAddress(packed) {
  return `data:${TYPES.mjs},${encodeURIComponent(await new Response(unpack(packed)).text())}`;
}
