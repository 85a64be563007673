// Runs the functions that come in, a line each, and answers with what they return or throw, a line each.

import { createInterface } from "node:readline";

const AsyncFunction = (async () => {}).constructor;

/** Typed arrays as text, so that NaN and infinities stay what they are. */
function packed(_key, value) {
  if (!ArrayBuffer.isView(value)) return value;
  const bytes = Buffer.from(value.buffer, value.byteOffset, value.byteLength);
  return { dtype: value.constructor.name, base64: bytes.toString("base64") };
}

function unpacked(_key, value) {
  if (!value?.base64) return value;
  return new globalThis[value.dtype](new Uint8Array(Buffer.from(value.base64, "base64")).buffer);
}

async function answer({ body, given }) {
  try {
    return { value: await new AsyncFunction("given", body)(given) };
  } catch (error) {
    return { error: error.stack };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line, unpacked)), packed));
}
