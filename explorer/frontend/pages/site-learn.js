// The page Learn of the static site, without a server.

import { createCourse } from "../learn/course.js";
import { fillHeading, loadQuery, setLinkQuery, siteReach, start } from "./site.js";

fillHeading();
setLinkQuery(loadQuery());
createCourse(/** @type {HTMLElement} */ (document.querySelector("main .lesson")), start.course, {
  address: (name) => start.pages[name],
  instrument: siteReach,
});
