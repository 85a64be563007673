// The drawing of a planned study: a table with a ring for each run.

import { setAttribute } from "../elements/dom.js";
import { h, render } from "../elements/render.js";

/** @import { Plan } from "./plan.js" */

/** Create the table of a planned study. @param {HTMLElement} host */
export function createPlan(host) {
  return {
    /** Update the table. Null hides it. @param {Plan|null} plan */
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
