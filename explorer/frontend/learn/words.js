// The words of a lesson as elements: a little Markdown of ours, whose links lead to the glossary.

import { element } from "../elements/dom.js";

/** Shows the entry of a term. @typedef {(term: string) => void} OnTerm */

const MARKED = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\((\w+)\)/;

/**
 * A paragraph for each block of text.
 * @param {string} text
 * @param {OnTerm} onTerm
 * @returns {HTMLElement[]}
 */
export function paragraphs(text, onTerm) {
  return text.split(/\n\n+/).map((block) => element("p", {}, ...inline(block.replaceAll("\n", " "), onTerm)));
}

/**
 * Text with code, emphasis and terms.
 * @param {string} text
 * @param {OnTerm} onTerm
 * @returns {(Node|string)[]}
 */
export function inline(text, onTerm) {
  const match = MARKED.exec(text);
  if (!match) return text ? [text] : [];
  const [whole, code, strong, emphasis, name, term] = match;
  const node = code
    ? element("code", {}, code)
    : term
      ? element("button", { class: "term", onclick: () => onTerm(term) }, name)
      : element(strong ? "strong" : "em", {}, ...inline(strong ?? emphasis, onTerm));
  return [text.slice(0, match.index), node, ...inline(text.slice(match.index + whole.length), onTerm)];
}

/**
 * The one glossary: a window over the page, closed by Escape or a click elsewhere.
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
    /** Open it; with a term, at its entry. @param {string} [term] */
    show(term) {
      entries.forEach((entry, key) => entry.classList.toggle("requested", key === term));
      window.showPopover();
      window.focus(); // so that the arrow keys move it
      entries.get(term ?? "")?.scrollIntoView({ block: "nearest" });
    },
  };
}
