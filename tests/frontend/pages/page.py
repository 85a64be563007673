"""A page around modules, in node: the site's files, and a worker without Python."""

# ``sent`` is all that workers are made of and told; what ``reply`` gives a message is answered to it, what it
# throws ends the worker; undefined is never answered.
PAGE = """
    const program = { start: "own", modules: { c: "d" }, browser: "x.js", scripts: {} };
    const scripts = {
      "python.js": { worker: "worker", files: { a: "b" }, packages: "{}" },
      "own.js": program,
      "black.js": { e: "f" },
    };
    const files = { runtime: "python.js", program: "own.js", formatter: "black.js" };
    let gone = false;
    let reply = () => ({});
    const sent = [];
    const append = (script) => {
      script.data = scripts[script.src];
      queueMicrotask(gone ? script.onerror : script.onload);
    };
    globalThis.document = { createElement: () => ({ remove: () => {} }), head: { append } };
    globalThis.Worker = class {
      constructor(address, options) { sent.push([address, options]); }
      terminate() { sent.push("ended"); this.isEnded = true; }
      async postMessage(message) {
        sent.push(message);
        const answer = await Promise.resolve(message).then(reply).catch((error) => this.onerror(error));
        if (answer && !this.isEnded) this.onmessage({ data: answer });
      }
    };
    process.stdin.once("end", () => process.exit()); // whatever is still waited for
    const { createPython } = await import("./asking/python.js");
    const passed = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    const answered = (question) => Promise.race([question, passed(5000)]); // undefined where it never is
"""
