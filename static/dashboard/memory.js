// The Memory tables: keys of the inline form, and where the focus goes after a row was swapped.
import { setUpDrawer } from "./drawer.js";
import "./told.js";

setUpDrawer();
document.querySelector(".line-form [data-first]")?.focus(); // a page that opens with its form

document.addEventListener("keydown", (event) => {
  const form = event.target.closest(".line-form form");
  if (!form) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit();
  }
  if (event.key === "Escape") {
    event.preventDefault();
    form.querySelector("[data-cancel], [data-drop]").click();
  }
});

document.addEventListener("click", (event) => {
  const drop = event.target.closest("[data-drop]");
  if (!drop) return;
  drop.closest(".line").remove();
  document.querySelector(".filter-add")?.focus();
});

// The element that was swapped in is the target of the event; a form takes the focus, a row that came back
// offers its undo, else its edit button.
document.addEventListener("htmx:afterSettle", (event) => {
  const line = event.target.closest?.(".line") || event.target.querySelector?.(".line-form");
  if (!line) return;
  const next = line.matches(".line-form") ? "[data-first]" : "[data-undo], [data-edit], a";
  line.querySelector(next)?.focus();
});
