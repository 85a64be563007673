// A class's answers on the teacher's screen: how many students gave each one, and their drawn curves, of which some can
// be trained as rules.

import { isQueryShort } from "../choice/address.js";
import { getEntries, getSamplingSettings } from "../choice/choice.js";
import { fitStroke, makeDrawnRule } from "../choice/drawing.js";
import { isPresenting, toPresentingAddress } from "../choice/presentation.js";
import { toServerUrl } from "../choice/server.js";
import { loadFromSession, saveInSession } from "../choice/session.js";
import { drawThumbnail } from "../chart/scene/thumbnail.js";
import { countAnswers, describeWays } from "../class/answer-counts.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { describeShape } from "./shape.js";

/** @import { Choice } from "../choice/choice.js" */
/** @import { Drawing, Point } from "../formula/lines.js" */
/** @import { Forecast } from "./forecast.js" */

const MAX_PICKED = 3;
const MAX_SHOWN = 24; // maximum number of distinct drawings in the list
const SEEDS = "5"; // number of seeds with which a comparison can tell rules apart
const TOO_LONG_TEXT = "These drawings are too long for a link: pick simpler ones, or fewer.";

/**
 * Create the list of answers to a lesson's question, for the screen of a teacher.
 * @param {Forecast} forecast the question with its answers @param {string} memory storage key of the drawings to race
 */
export function createAnswers(forecast, memory) {
  const whys = forecast.whys();
  const rows = forecast.contents().map((content, index) => {
    const said = element("span", { class: "said" });
    const count = element("b", { class: "count" });
    const objection = element("span", { class: "objection", hidden: true }, ...whys[index]);
    const item = element("li", {}, element("span", {}, ...content), count, said, objection);
    return { said, count, objection, item };
  });
  const list = element("ol", { class: "answers", "aria-label": "Answers" }, ...rows.map(({ item }) => item));
  const others = element("p", { class: "others", hidden: true });
  const race = createRace(forecast, memory);

  return {
    element: element("div", { class: "tally" }, list, others, race.element),
    /**
     * @param {number[]} counts how often each answer was picked
     * @param {ArrayLike<number>[]} drawings the heights of each drawn curve, in cells of equal width
     */
    show(counts, drawings) {
      const alike = drawings.map(forecast.alike);
      const answers = countAnswers(counts, alike);
      const wrong = answers.rows.map(({ all }, index) => (index === forecast.right ? 0 : all));
      const commonest = wrong.indexOf(Math.max(1, ...wrong));
      rows.forEach(({ item, said, count, objection }, index) => {
        const row = answers.rows[index];
        objection.hidden = index !== commonest;
        setText(count, String(row.all));
        setText(said, describeWays(row, forecast.draws, forecast.labels[index]));
        item.style.setProperty("--share", `${answers.all ? (100 * row.all) / answers.all : 0}%`);
        setAttribute(item, "data-right", index === forecast.right);
      });
      list.classList.add("counted");
      others.hidden = !forecast.draws;
      setText(others, `Another curve: ${answers.others}`);
      race.show(drawings, alike);
    },
  };
}

/**
 * Convert the curve that a student has drawn to a backward rule of straight lines.
 * @param {ArrayLike<number>} values heights in cells of equal width, NaN for empty ones
 * @param {Pick<Choice, "range"|"g">} choice settings of the chart on which it was drawn
 * @param {[number, number]} axis range of the gradient axis on which it was drawn
 * @param {string} name the name of the rule @returns {Drawing|null} null if g is 0 or fewer than two points remain
 */
export function toDrawing(values, { range: [start, stop], g }, axis, name) {
  const width = (stop - start) / values.length;
  const cells = Array.from(values, (y, cell) => /** @type {Point} */ ([start + (cell + 0.5) * width, y / g]));
  const stroke = cells.filter(([, y]) => Number.isFinite(y));
  const height = Math.abs((axis[1] - axis[0]) / g);
  const points = g ? fitStroke(stroke, [width, height / 300], height, name) : [];
  return points.length > 1 ? { name, points, zero: false } : null;
}

/**
 * Create the list of the curves that a class has drawn. A link trains the ones that the teacher picks.
 * @param {Forecast} forecast the question for which they were drawn @param {string} memory storage key of the picks
 */
function createRace({ choice, labels, leastRange }, memory) {
  const picked = /** @type {Set<Drawing>} */ (new Set());
  const list = element("div", { class: "drawings", role: "group", "aria-label": "Drawings" });
  const stay = () => isPresenting() && (link.href = toPresentingAddress(link.href)); // on the stage
  const [link, note] = [element("a", { class: "race", onclick: stay }), element("p", { role: "status" })];
  const asked = element("span", {}, `Drawings (thin lines): pick up to ${MAX_PICKED} to race`);
  const heading = element("h3", {}, asked, link); // the link takes the place of the words: nothing moves
  const host = element("section", { class: "race-of-class", hidden: true }, heading, list, note);

  /** Update the link to the Train page. Disable drawings that no longer fit into it. */
  function update() {
    const query = new URLSearchParams({ op: choice.op, task: "digits", seeds: SEEDS });
    for (const drawing of picked) query.append("rule", makeDrawnRule(drawing).key);
    if (picked.size === 1) for (const { key } of choice.rules) query.append("rule", key);
    const isShort = isQueryShort(String(query));
    const names = [...picked].map(({ name }) => name);
    saveInSession(memory, names);
    setAttribute(link, "hidden", !picked.size || !isShort);
    asked.hidden = !link.hidden;
    setAttribute(link, "href", `${toServerUrl("train")}?${query}`);
    setText(link, picked.size === 1 ? "Race the lesson's rules" : `Race these ${picked.size} drawings`);
    setText(note, isShort ? "" : TOO_LONG_TEXT);
    for (const button of list.querySelectorAll("button"))
      button.disabled = picked.size >= MAX_PICKED && button.getAttribute("aria-pressed") !== "true";
  }

  /** @param {Drawing} drawing @param {string} kind the answer that it resembles, in words */
  function createButton(drawing, kind) {
    const [x, y] = [0, 1].map((at) => drawing.points.map((point) => point[at]));
    const pair = { op: getEntries(choice).op, rules: [makeDrawnRule(drawing)] };
    const picture = drawThumbnail(pair, getSamplingSettings(choice), leastRange);
    const title = `${drawing.name}, ${kind}: ${describeShape(x, y)}`;
    const attributes = { "aria-label": title, title, onclick: pick, class: "flex-row" };
    const number = element("b", {}, drawing.name.replace(/\D+/, "№"));
    const button = element("button", attributes, number, picture, element("span", {}, kind));
    function pick() {
      if (!picked.delete(drawing)) picked.add(drawing);
      mark();
      update();
    }
    const mark = () => setAttribute(button, "aria-pressed", String(picked.has(drawing)));
    mark();
    return button;
  }

  return {
    element: host,
    /**
     * List the distinct drawings of the class, numbered as they came. A drawing that counts as an answer says so.
     * @param {ArrayLike<number>[]} drawings heights in cells of equal width
     * @param {number[]} alike the index of the answer that each drawing resembles, or -1
     */
    show(drawings, alike) {
      const different = /** @type {Map<string, [Drawing, string]>} */ (new Map());
      for (const [at, values] of drawings.entries()) {
        const name = `Drawing ${at + 1}`;
        const drawing = different.size < MAX_SHOWN ? toDrawing(values, choice, leastRange, name) : null;
        const kind = labels[alike[at]] ? `like ${labels[alike[at]]}` : "another curve";
        if (drawing) different.set(JSON.stringify(drawing.points), [drawing, kind]);
      }
      const [listed, raced] = [[...different.values()], loadFromSession(memory) ?? []];
      picked.clear();
      for (const [drawing] of listed) if (raced.includes(drawing.name)) picked.add(drawing);
      list.replaceChildren(...listed.map((each) => createButton(...each)));
      host.hidden = !listed.length;
      update();
    },
  };
}
