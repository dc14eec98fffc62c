// Behaviour of the page frame: theme switch, mobile navigation, menus that close, the workspace, local times.
import { clock, moment } from "./times.js";

const root = document.documentElement;

function currentTheme() {
  return root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

function labelTheme(button) {
  button.setAttribute("aria-label", currentTheme() === "dark" ? "Use light colours" : "Use dark colours");
  button.title = button.getAttribute("aria-label");
}

function toggleTheme(button) {
  root.dataset.theme = currentTheme() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("adminTheme", JSON.stringify(root.dataset.theme)); // the admin reads the same entry
  } catch {
    // Storage may be off; the choice then lasts for this page.
  }
  labelTheme(button);
}

function toggleNav(button) {
  const nav = document.getElementById("site-nav");
  const open = nav.toggleAttribute("data-open");
  button.setAttribute("aria-expanded", String(open));
}

export function localTimes(scope = document) {
  for (const node of scope.querySelectorAll("time[datetime]:not([data-local])")) {
    const at = new Date(node.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    node.dataset.local = "1";
    node.title = moment(at);
    if (node.dataset.style === "clock") node.textContent = clock(at);
  }
}

for (const button of document.querySelectorAll("[data-theme-toggle]")) {
  labelTheme(button);
  button.addEventListener("click", () => toggleTheme(button));
}
for (const button of document.querySelectorAll("[data-nav-toggle]")) {
  button.addEventListener("click", () => toggleNav(button));
}
document.addEventListener("click", (event) => {
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    if (!menu.contains(event.target)) menu.open = false;
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  for (const menu of document.querySelectorAll("details.menu[open]")) {
    menu.open = false;
    menu.querySelector("summary").focus();
  }
});
// The chosen workspace is shown at once. Arrow keys open the list: on a closed one they would choose, and leave.
const picker = document.getElementById("workspace-pick");
picker?.addEventListener("change", () => picker.form.requestSubmit());
picker?.addEventListener("keydown", (event) => {
  if (!["ArrowDown", "ArrowUp"].includes(event.key) || !picker.showPicker) return;
  event.preventDefault();
  picker.showPicker();
});
document.addEventListener("htmx:afterSwap", (event) => localTimes(event.target));
localTimes();
// A narrow screen shows only some of the tabs; the current one is among them.
document.querySelector(".tabs [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
