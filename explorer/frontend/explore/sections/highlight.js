// Syntax highlighting of Python source: comments, strings, numbers and keywords.

import { element } from "../../elements/dom.js";

const KEYWORDS =
  "and|as|assert|break|class|continue|def|del|elif|else|except|False|finally|for|from|global|if|import|in|is|" +
  "lambda|None|nonlocal|not|or|pass|raise|return|True|try|while|with|yield";
const TOKEN = new RegExp(
  [
    "(?<comment>#.*)",
    "(?<string>[bfr]?(?:\"\"\"[^]*?\"\"\"|'''[^]*?'''|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*'))",
    `(?<keyword>\\b(?:${KEYWORDS})\\b|^ *@[\\w.]+)`,
    "(?<number>(?<![\\w.])(?:\\d[\\d_]*\\.?\\d*|\\.\\d+)(?:e[-+]?\\d+)?)",
  ].join("|"),
  "gm",
);

/** Split Python source code into tokens. ``kind`` is the CSS class of their colour, or "". @param {string} source */
export function splitTokens(source) {
  const tokens = /** @type {{kind: string, text: string}[]} */ ([]);
  let end = 0;
  for (const match of source.matchAll(TOKEN)) {
    if (match.index > end) tokens.push({ kind: "", text: source.slice(end, match.index) });
    const [kind] = Object.entries(match.groups ?? {}).find(([, text]) => text !== undefined) ?? [""];
    tokens.push({ kind, text: match[0] });
    end = match.index + match[0].length;
  }
  if (end < source.length) tokens.push({ kind: "", text: source.slice(end) });
  return tokens;
}

/**
 * Return Python source code as DOM nodes. Comments, keywords, strings and numbers are coloured spans.
 * @param {string} source
 */
export function highlightPython(source) {
  return splitTokens(source).map(({ kind, text }) => (kind ? element("span", { class: kind }, text) : text));
}
