// The lessons without a server.

import { createCourse } from "../learn/course.js";
import { arrange, carried, carryOn, siteReach, start } from "./site.js";

arrange();
carryOn(carried());
createCourse(/** @type {HTMLElement} */ (document.querySelector("main .lesson")), start.course, {
  address: (name) => start.pages[name],
  instrument: siteReach,
});
