// The text of a lesson as elements: a small subset of Markdown, whose links open the glossary.

import { element } from "../elements/dom.js";

/** Shows the entry of a term. @typedef {(term: string) => void} OnTerm */

const MARKUP = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\((\w+)\)/;

/** Return a paragraph for each block of text. @param {string} text @param {OnTerm} onTerm @returns {HTMLElement[]} */
export function renderParagraphs(text, onTerm) {
  return text
    .split(/\n\n+/)
    .map((block) => element("p", {}, ...renderInline(block.replaceAll("\n", " "), onTerm)));
}

/**
 * Return text with code, emphasis and links to terms.
 * @param {string} text
 * @param {OnTerm} onTerm
 * @returns {(Node|string)[]}
 */
export function renderInline(text, onTerm) {
  const match = MARKUP.exec(text);
  if (!match) return text ? [text] : [];
  const [matched, code, strong, emphasis, name, term] = match;
  const node = code
    ? element("code", {}, code)
    : term
      ? element("button", { class: "term", onclick: () => onTerm(term) }, name)
      : element(strong ? "strong" : "em", {}, ...renderInline(strong ?? emphasis, onTerm));
  return [
    text.slice(0, match.index),
    node,
    ...renderInline(text.slice(match.index + matched.length), onTerm),
  ];
}

/**
 * Create the glossary: a window over the page, closed by Escape or a click elsewhere.
 * @param {Object<string, string>} terms
 */
export function createGlossary(terms) {
  const entries = new Map(
    Object.entries(terms).map(([term, text]) => [
      term,
      element("div", {}, element("dt", {}, term.replaceAll("_", " ")), element("dd", {}, text)),
    ]),
  );
  const list = element("dl", {}, ...entries.values());
  const window = element(
    "div",
    { popover: "auto", class: "glossary", role: "dialog", "aria-label": "Glossary", tabindex: 0 },
    element("h2", {}, "Glossary"),
    list,
  );
  return {
    element: window,
    /** Open the glossary, at the entry of a term if there is one. @param {string} [term] */
    show(term) {
      entries.forEach((entry, key) => entry.classList.toggle("requested", key === term));
      window.showPopover();
      window.focus(); // arrow keys scroll it
      entries.get(term ?? "")?.scrollIntoView({ block: "nearest" });
    },
  };
}
