// The view of the Study page: creates its parts and updates them.

import { createExamples } from "../cards/examples.js";
import { element, setAttribute, setText } from "../elements/dom.js";
import { h, render } from "../elements/render.js";
import { createTaskChip } from "../train/settings/task-chip.js";
import { createPicker } from "../train/settings/task-picker.js";
import { createTable } from "../train/settings/table-input.js";
import { NO_TABLE } from "../train/state/own-table.js";
import { getTasks, withTask } from "../train/state/tasks.js";
import { createCommands } from "./commands.js";
import { enterStudy, toStudyKey } from "./settings.js";
import { createSetup } from "./setup.js";
import { setOpenTools, getOpenTools } from "../choice/tools.js";
import { createJudgement } from "./judgement.js";
import { createHeat } from "./table.js";

/** @import { Picture } from "./picture.js" */
/**
 * The callbacks of the page. ``onTable``: called with the user's table of data; ``onWrong``: called with the name of
 * an invalid field, or "".
 * @typedef {import("./commands.js").Acts & {onTable: (table: import("../train/state/own-table.js").OwnTable) => void,
 *   onWrong: (wrong: string) => void}} Acts
 */

/**
 * Create the elements of the Study page, and the function ``paint`` that updates them.
 * @param {HTMLElement} host an element with empty elements for the page's parts
 * @param {{store: ReturnType<typeof import("../choice/store.js").createStore>, plotly: string, server: (path: string)
 *   => string, examples: import("../cards/examples.js").Example[]}} reach ``server``: makes addresses
 * @param {Acts} on
 */
export function createPainter(host, { store, plotly, server, examples }, on) {
  const find = (/** @type {string} */ name) => /** @type {HTMLElement} */ (host.querySelector(`.${name}`));
  const commands = createCommands({ buttons: find("commands"), status: find("status") }, on);
  const picker = createPicker(
    find("tasks"),
    (key) => store.change(withTask(store.current, key)),
    getTasks().filter(({ metric, kind }) => metric !== null || kind === "own"), // others cannot be judged
  );
  const chip = createTaskChip(find("bar"), find("tasks"));
  const menu = createExamples(
    examples,
    (choice) =>
      store.change({
        ...enterStudy(choice, "link"),
        section: store.current.section,
        tools: store.current.tools,
      }),
    ({ choice }, other) => toStudyKey(choice, NO_TABLE) === toStudyKey(other, NO_TABLE),
  );
  find("about").append(menu.element);
  const tables = examples.filter((example) => example.table);
  const table = createTable(find("table"), on, tables);
  const heat = createHeat(find("heat"));
  const plan = createPlan(find("plan"));
  const judgement = createJudgement({ headline: find("ranked"), drawing: find("judgement") }, plotly);
  const rates = element(
    "button",
    {
      class: "rates",
      onclick: () => {
        setOpenTools(store, hasEvidence() ? "" : "evidence");
        requestAnimationFrame(() => hasEvidence() && find("results").scrollIntoView({ block: "nearest" }));
      },
    },
    "Rates: heat map",
  );
  const csv = element("a", { class: "csv", download: "study.csv" }, "All runs as CSV");
  const script = element("a", { class: "csv", download: "study.py" }, "Python script");
  find("measured").append(rates, csv, script);
  const order = element("p", { class: "order", role: "status" });
  find("judgement").after(order);
  const setup = createSetup(find("setup"), store, on.onWrong);

  const hasEvidence = () => ["all", "evidence"].includes(getOpenTools(store.current));

  return {
    /** @param {Picture} picture */
    paint(picture) {
      host.classList.add("filled");
      host.classList.toggle("with-evidence", hasEvidence() || !picture.judgement);
      setAttribute(rates, "aria-expanded", String(hasEvidence()));
      setAttribute(rates, "hidden", !picture.judgement);
      plan.show(picture.plan);
      judgement.show(picture.judgement);
      host.classList.toggle("begun", picture.heat.busy);
      const { choice, csv: id } = picture;
      commands.show(picture);
      picker.show(picture.task.key);
      chip.show(picture.task);
      menu.show(choice, picture.about);
      table.show(picture.table);
      heat.show(picture.heat);
      setup.show(choice);
      setText(order, picture.order);
      render(find("verdict"), ...picture.verdict.map((sentence) => h("p", {}, sentence)));
      for (const [link, file] of /** @type {const} */ ([
        [csv, "rows.csv"],
        [script, "study.py"],
      ])) {
        setAttribute(link, "hidden", id === null);
        setAttribute(link, "href", id && server(`studies/${id}/${file}`));
      }
    },
    destroy: judgement.destroy,
  };
}

/** Create the table of a planned study. @param {HTMLElement} host */
function createPlan(host) {
  return {
    /** Update the table. Null hides it. @param {import("./plan.js").Plan|null} plan */
    show(plan) {
      setAttribute(host, "hidden", !plan);
      if (!plan) return;
      const columns = [...plan.rates, "judged"];
      const titles = ["lr", ...columns].map((text) => h("th", { scope: "col" }, text));
      const rings = Array.from({ length: plan.rings }, () => h("i"));
      const rows = plan.rows.map(({ label, colour, control }) =>
        h(
          "tr",
          { class: control && "control", "--colour": colour },
          h("th", { scope: "row" }, label),
          columns.map(() => h("td", {}, h("span", { class: "rings" }, rings))),
        ),
      );
      render(
        host,
        h("h2", {}, plan.heading),
        h("p", {}, plan.caption),
        h("table", {}, h("thead", {}, h("tr", {}, titles)), h("tbody", {}, rows)),
        h("p", {}, plan.others),
      );
    },
  };
}
