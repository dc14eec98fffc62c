// The drawer that explains a row: any link marked with data-explain opens in it.

const drawer = document.getElementById("drawer");
const body = document.getElementById("drawer-body");

function note(text) {
  const line = document.createElement("p");
  line.className = "empty-note";
  line.textContent = text;
  body.replaceChildren(line);
}

export async function explain(url) {
  note("Loading…");
  if (!drawer.open) drawer.showModal();
  try {
    const answer = await fetch(url, { headers: { "HX-Request": "true" }, credentials: "same-origin" });
    if (!answer.ok) throw new Error(String(answer.status));
    body.innerHTML = await answer.text(); // our own template, escaped on the server
    body.scrollTop = 0;
  } catch {
    note("This could not be loaded. Close it and try again.");
  }
}

export function setUpDrawer() {
  drawer.addEventListener("click", (event) => {
    if (event.target === drawer || event.target.closest("[data-close]")) drawer.close();
  });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-explain]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    explain(link.href);
  });
}
