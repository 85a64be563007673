// The layer "lens": the gradient of the op under noise, as Python computes it, among those of the rules.

/** @type {import("./picture.js").Layer} */
export const layer = {
  curves({ lens, op }) {
    if (!lens?.curve) return [];
    return [{ of: { key: "", label: op.label, colour: "" }, panel: "gradient", ...lens.curve }];
  },
  words: ({ lens }) => lens?.words ?? "",
};
