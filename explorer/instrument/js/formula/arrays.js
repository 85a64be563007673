// Arrays as they travel: their own bytes as base64.

const TYPES = { f4: Float32Array, f8: Float64Array, i1: Int8Array, i4: Int32Array, u1: Uint8Array };

/** @param {{dtype: keyof typeof TYPES, bdata: string}} encoded little-endian */
export function array({ dtype, bdata }) {
  const bytes = Uint8Array.from(atob(bdata), (letter) => letter.charCodeAt(0));
  return new TYPES[dtype](bytes.buffer);
}
