// Says what a partial update did, and what went wrong with one. For eyes and for screen readers.

export function tell(text) {
  const region = document.getElementById("told");
  if (region && text) region.textContent = text;
}

function warn(text) {
  document.querySelector(".toast")?.remove();
  const note = document.createElement("p");
  note.className = "notice notice-bad toast";
  note.setAttribute("role", "alert");
  note.textContent = text;
  document.body.append(note);
  setTimeout(() => note.remove(), 8000);
}

const REASONS = {
  403: "You may not do this. An owner of the workspace can.",
  404: "This is not here any more. Load the page again.",
  503: "The site is under maintenance; changes are refused until it is over.",
};

document.addEventListener("htmx:responseError", (event) => {
  const code = event.detail.xhr.status;
  warn(REASONS[code] || `That did not work (${code}). Nothing was changed.`);
});
document.addEventListener("htmx:sendError", () => warn("The site does not answer. Nothing was changed."));
document.addEventListener("htmx:afterSwap", (event) => {
  const told = event.target.querySelector?.(".told, [role=alert]") || document.querySelector(".toast");
  if (told) tell(told.querySelector("span")?.textContent || told.textContent);
});
