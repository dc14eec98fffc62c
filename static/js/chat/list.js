// The list of conversations: search while typing, and a drawer on narrow screens.
import { byId, show } from "./dom.js";

const TYPING_PAUSE_MS = 180;
const isArchive = new URLSearchParams(location.search).has("archived");
let rows = "";

async function fragment(url) {
  const answer = await fetch(url, { headers: { "X-Fragment": "1" }, credentials: "same-origin" });
  return answer.ok && !answer.redirected ? answer.text() : null;
}

export async function refreshList() {
  const form = document.querySelector(".search");
  const url = new URL(form.dataset.listUrl, location.href);
  const query = byId("list-search").value.trim();
  if (query) url.searchParams.set("q", query);
  const from = byId("list-from")?.value;
  if (from) url.searchParams.set("from", from);
  if (isArchive) url.searchParams.set("archived", "");
  if (rows) url.searchParams.set("rows", rows);
  const html = await fragment(url).catch(() => null);
  if (html === null) return;
  byId("chat-list-body").innerHTML = html; // our own template, escaped on the server
  const here = byId("chat").dataset.conversation;
  const current = here && document.querySelector(`.list-item[data-conversation="${here}"]`);
  if (!current) return;
  current.setAttribute("aria-current", "page");
  showTitle(current.querySelector(".list-title").textContent);
}

export function showTitle(title) {
  byId("thread-title").textContent = title;
  byId("thread-more").dataset.title = title;
  document.title = `${title} · Crewsite`;
}

export async function showRows(count) {
  const last = document.querySelectorAll(".list-item").length - 1;
  rows = count;
  await refreshList();
  document.querySelectorAll(".list-item")[last]?.focus();
}

// Where the conversation on the page stands among the others; only the list scrolls to it.
function showCurrent() {
  const box = byId("chat-list-body");
  const current = box.querySelector("[aria-current]")?.getBoundingClientRect();
  const room = box.getBoundingClientRect();
  if (current && current.bottom > room.bottom) box.scrollTop += current.top - room.top - room.height / 2;
}

export function setUpList() {
  showCurrent();
  const search = byId("list-search");
  let timer;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(refreshList, TYPING_PAUSE_MS);
  });
  byId("list-from")?.addEventListener("change", refreshList);
  search.form.addEventListener("submit", (event) => {
    event.preventDefault();
    refreshList();
  });

  const list = byId("chat-list");
  const scrim = byId("chat-scrim");
  const openers = document.querySelectorAll("[data-open-list]");
  const toggle = (open) => {
    list.toggleAttribute("data-open", open);
    show(scrim, open);
    openers.forEach((button) => button.setAttribute("aria-expanded", String(open)));
    byId("main").inert = open;
    if (open) (matchMedia("(pointer: fine)").matches ? search : list.querySelector("a")).focus();
    else openers[0]?.focus();
  };
  openers.forEach((button) => button.addEventListener("click", () => toggle(true)));
  scrim.addEventListener("click", () => toggle(false));
  list.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && list.hasAttribute("data-open")) {
      event.stopPropagation();
      toggle(false);
    }
  });
  return {
    search() {
      if (getComputedStyle(list).visibility === "hidden") toggle(true);
      search.focus();
      search.select();
    },
  };
}
