// Numeric arrays in base64, as the server sends them.

const TYPES = { f4: Float32Array, f8: Float64Array, i1: Int8Array, i4: Int32Array, u1: Uint8Array };

/** Decode numbers from little-endian bytes in base64. @param {{dtype: keyof typeof TYPES, bdata: string}} encoded */
export function decodeArray({ dtype, bdata }) {
  const binary = atob(bdata);
  const bytes = new Uint8Array(binary.length); // a loop; Uint8Array.from takes 15 times as long
  for (let index = 0; index < bytes.length; index += 1) bytes[index] = binary.charCodeAt(index);
  return new TYPES[dtype](bytes.buffer);
}
