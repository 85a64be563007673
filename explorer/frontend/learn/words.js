// The text of a lesson in a small subset of Markdown, whose links open the glossary.

import { element } from "../elements/dom.js";

/** A function that opens the glossary at a term. @typedef {(term: string) => void} OnTerm */

const MARKUP = /`([^`]+)`|\*\*([^*]+)\*\*|\*([^*]+)\*|\[([^\]]+)\]\((\w+)\)/;

/**
 * Convert the text of a lesson into paragraph elements.
 * @param {string} text @param {OnTerm} onTerm @returns {HTMLElement[]}
 */
export function renderParagraphs(text, onTerm) {
  return text
    .split(/\n\n+/)
    .map((block) => element("p", {}, ...renderInline(block.replaceAll("\n", " "), onTerm)));
}

/**
 * Convert inline Markdown into elements: code, emphasis and links to the glossary.
 * @param {string} text @param {OnTerm} onTerm @returns {(Node|string)[]}
 */
export function renderInline(text, onTerm) {
  const match = MARKUP.exec(text);
  if (!match) return text ? [text] : [];
  const rest = text.slice(match.index + match[0].length);
  return [text.slice(0, match.index), createMarked(match, onTerm), ...renderInline(rest, onTerm)];
}

/** @param {RegExpExecArray} match of ``MARKUP`` @param {OnTerm} onTerm @returns {HTMLElement} */
function createMarked([, code, strong, emphasis, name, term], onTerm) {
  if (code) return element("code", { class: code.length < 13 ? "whole" : "" }, code);
  if (term) return element("button", { class: "term bare", onclick: () => onTerm(term) }, name);
  return element(strong ? "strong" : "em", {}, ...renderInline(strong ?? emphasis, onTerm));
}

/**
 * Create the window of the glossary. Escape and a click outside close it too.
 * @param {Object<string, string>} terms explanations by term
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
    element(
      "button",
      { class: "close quiet", "aria-label": "Close", onclick: () => window.hidePopover() },
      "×",
    ),
    element("h2", {}, "Glossary"),
    list,
  );
  return {
    element: window,
    /** @param {string} [term] */
    show(term) {
      entries.forEach((entry, key) => entry.classList.toggle("requested", key === term));
      window.showPopover();
      window.focus(); // the arrow keys scroll the focused window
      entries.get(term ?? "")?.scrollIntoView({ block: "nearest" });
    },
  };
}
