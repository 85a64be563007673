// The lessons without a server.

import { createCourse } from "../learn/course.js";
import { loaded } from "./files.js";
import { createJudge } from "./python.js";
import { arrange, carried, carryOn, python, siteReach, start } from "./site.js";

const GONE = { message: "The lesson could not be loaded." };

arrange();
carryOn(carried());
createCourse(/** @type {HTMLElement} */ (document.querySelector("main .lesson")), start.course, {
  address: (name) => start.pages[name],
  lesson: (key) => {
    const known = start.course.lessons.some((/** @type {{key: string}} */ one) => one.key === key);
    return known ? loaded(`lessons/${key}.js`).catch(() => GONE) : Promise.resolve(start.unknown);
  },
  instrument: { ...siteReach, judge: python && createJudge(python) },
});
