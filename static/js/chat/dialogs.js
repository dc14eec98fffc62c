// The help dialog and the context drawer.
import { byId, make } from "./dom.js";

export function setUpDialogs() {
  for (const dialog of document.querySelectorAll("dialog")) {
    dialog.addEventListener("click", (event) => {
      const onBackdrop = event.target === dialog;
      if (onBackdrop || event.target.closest("[data-close]")) dialog.close();
    });
  }
  for (const button of document.querySelectorAll("[data-open-help]")) button.addEventListener("click", openHelp);
}

export function openHelp() {
  byId("row-menu")?.hidePopover();
  const dialog = byId("help");
  if (!dialog.open) dialog.showModal();
}

export async function openContext(turn) {
  const drawer = byId("context-drawer");
  const body = byId("context-body");
  body.replaceChildren(make("p", "empty-note", "Loading…"));
  if (!drawer.open) drawer.showModal();
  const url = byId("chat").dataset.contextUrl.replace("00000000-0000-0000-0000-000000000000", turn);
  try {
    const answer = await fetch(url, { headers: { "X-Fragment": "1" }, credentials: "same-origin" });
    if (!answer.ok) throw new Error(String(answer.status));
    body.innerHTML = await answer.text(); // our own template, escaped on the server
  } catch {
    body.replaceChildren(make("p", "empty-note", "The context could not be loaded. Close this and try again."));
  }
}
