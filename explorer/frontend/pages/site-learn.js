// The page Learn of the static site, without a server.

import { createCourse } from "../learn/course.js";
import { fillHeading, setLinkQuery, siteReach, start } from "./site.js";

fillHeading();
setLinkQuery();
createCourse(/** @type {HTMLElement} */ (document.querySelector("main .lesson")), start.course, {
  address: (name) => start.pages[name],
  instrument: siteReach,
});
