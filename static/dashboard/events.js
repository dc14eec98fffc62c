// The Events page: the export links take the filters along.
import "./told.js";

const links = document.querySelectorAll("[data-export]");

document.addEventListener("htmx:pushedIntoHistory", () => {
  for (const link of links) link.search = location.search;
});
