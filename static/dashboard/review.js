// The review queue by keyboard: j and k move, a accepts, r rejects, m merges, u takes back.
import "./told.js";

const list = document.getElementById("reviews");
const items = () => [...list.querySelectorAll(".review")];

function current() {
  return document.activeElement?.closest(".review") || null;
}

function move(step) {
  const all = items();
  if (!all.length) return;
  const at = all.indexOf(current());
  const next = at < 0 ? 0 : Math.min(all.length - 1, Math.max(0, at + step));
  all[next].focus();
  all[next].scrollIntoView({ block: "nearest" });
}

function press(selector) {
  (current() || items()[0])?.querySelector(selector)?.click();
}

function openMerge(review, open) {
  const form = review.querySelector(".review-merge");
  const button = review.querySelector("[data-merge]");
  if (!form) return;
  form.hidden = !open;
  button.setAttribute("aria-expanded", String(open));
  if (open) form.querySelector("textarea").focus();
  else review.focus();
}

const KEYS = {
  j: () => move(1),
  k: () => move(-1),
  a: () => press('button[value="accept"]'),
  r: () => press('button[value="reject"]'),
  m: () => press("[data-merge]"),
  u: () => press("[data-undo]"),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("textarea, input, select");
  if (event.key === "Escape" && typing && typing.closest(".review-merge")) openMerge(typing.closest(".review"), false);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const act = KEYS[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});

list.addEventListener("click", (event) => {
  const review = event.target.closest(".review");
  if (event.target.closest("[data-merge]")) openMerge(review, review.querySelector(".review-merge").hidden);
  if (event.target.closest("[data-unmerge]")) openMerge(review, false);
});

function setWaiting(count) {
  for (const badge of document.querySelectorAll("[data-nav-count]")) {
    badge.textContent = count;
    badge.hidden = count === "0";
  }
}

// A decided item stays in its place with its undo, and keeps the focus, so that j goes on from there.
document.addEventListener("htmx:afterSettle", (event) => {
  const review = event.target.closest?.(".review");
  if (!review) return;
  if (review.dataset.waiting !== undefined) setWaiting(review.dataset.waiting);
  review.focus();
});
