// What can be done to a whole conversation, from the list or from its own head: one menu and two dialogs for all.
import { byId } from "./dom.js";
import { refreshList, showRows } from "./list.js";

let chosen; // the button whose menu is open

const address = (what) => `/chat/${chosen.dataset.more}/${what}`;
const isHere = () => chosen.dataset.more === byId("chat").dataset.conversation;

async function post(what, fields) {
  const body = new FormData(byId("delete-dialog").querySelector("form"));
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  const answer = await fetch(address(what), { method: "POST", body, headers: { "X-Fragment": "1" }, credentials: "same-origin" });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.text();
}

async function change(what, fields = {}) {
  try {
    await post(what, fields);
  } catch {
    location.reload(); // logged out, or gone meanwhile: the page says which
    return;
  }
  if (isHere() && (what === "delete/" || (what === "archive/" && fields.on === "1"))) location.assign("/chat/");
  else {
    await refreshList();
    byId("chat-list-body").querySelector(`[data-more="${chosen.dataset.more}"]`)?.focus();
  }
}

function toggled(name, what) {
  const on = !chosen.hasAttribute(name);
  for (const button of document.querySelectorAll(`[data-more="${chosen.dataset.more}"]`)) button.toggleAttribute(name, on);
  change(what, { on: on ? "1" : "0" });
}

function open(button) {
  chosen = button;
  const menu = byId("row-menu");
  const label = (what, text) => (menu.querySelector(`[data-do=${what}] span`).textContent = text);
  label("pin", button.hasAttribute("data-pinned") ? "Unpin" : "Pin");
  label("archive", button.hasAttribute("data-archived") ? "Take out of the archive" : "Archive");
  for (const link of menu.querySelectorAll("[data-do=export]")) link.href = address(`export.${link.dataset.form}`);
  menu.showPopover();
  const at = button.getBoundingClientRect();
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(at.left, innerWidth - box.width - 8))}px`;
  menu.style.top = `${at.bottom + box.height + 8 > innerHeight ? Math.max(8, at.top - box.height) : at.bottom + 2}px`;
  menu.querySelector("button").focus();
}

const actions = {
  pin: () => toggled("data-pinned", "pin/"),
  archive: () => toggled("data-archived", "archive/"),
  export: () => {},
  rename() {
    const dialog = byId("rename-dialog");
    dialog.showModal();
    const box = byId("rename-title");
    box.value = chosen.dataset.title;
    box.select();
  },
  delete() {
    byId("delete-title").textContent = chosen.dataset.title;
    byId("delete-dialog").showModal();
  },
};

export function setUpRowMenu() {
  const menu = byId("row-menu");
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-more]");
    if (button) open(button);
    const older = event.target.closest("[data-rows]");
    if (older) showRows(older.dataset.rows);
  });
  menu.addEventListener("click", (event) => {
    const item = event.target.closest("[data-do]");
    if (!item) return;
    menu.hidePopover();
    actions[item.dataset.do]();
  });
  menu.addEventListener("keydown", (event) => {
    const items = [...menu.querySelectorAll("[data-do]")];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
  });
  menu.addEventListener("toggle", (event) => {
    if (event.newState === "closed" && document.activeElement === document.body) chosen?.focus();
  });
  submits("rename-dialog", () => {
    const title = byId("rename-title").value.trim();
    chosen.dataset.title = title;
    change("rename/", { title });
  });
  submits("delete-dialog", () => change("delete/"));
}

function submits(id, act) {
  const dialog = byId(id);
  dialog.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    dialog.close();
    act();
  });
}
