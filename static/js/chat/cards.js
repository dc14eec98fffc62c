// Tool cards: what a tool was asked and what came of it, with Undo where something was saved.
import { fromTemplate, setIcon, show } from "./dom.js";

const TITLES = {
  learn_add: ["Saving a lesson", "lesson"],
  memory_remember: ["Remembering", "bookmark"],
  memory_recall: ["Searching memory", "search"],
};
const LESSON_OUTCOMES = {
  inserted: "Lesson saved",
  replaced: "Lesson saved, an earlier one replaced",
  enriched: "Lesson completed",
  unchanged: "Already known",
  refused: "Not saved",
};
const FACT_OUTCOMES = {
  created: "Fact saved",
  updated: "Fact updated",
  stored: "Remembered",
  deduped: "Already known, confirmed",
  unchanged: "Already known",
  refused: "Not saved",
};
const UNDOABLE = new Set(["inserted", "replaced", "created", "updated", "stored"]);

const asText = (value) => (value == null ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function fillCard(card, frame) {
  const data = frame.data ?? {};
  const [title, icon] = TITLES[frame.name] ?? [frame.title ?? frame.name ?? "Note", "tool"];
  setIcon(card.querySelector(".tool-icon"), frame.state === "failed" || frame.state === "denied" ? "alert" : icon);
  card.dataset.state = frame.state ?? "done";
  card.querySelector(".tool-title").textContent = frame.state === "running" ? `${title}…` : title;
  fillDetails(card, frame);
  if (frame.state !== "running" && data.outcome) fillOutcome(card, data);
  if (frame.gone) undone(card);
}

function fillDetails(card, frame) {
  const parts = [asText(frame.args), asText(frame.result)].filter(Boolean);
  card.querySelector(".tool-pre").textContent = parts.join("\n\n");
  show(card.querySelector(".tool-more"), parts.length > 0);
}

// The wire names what was written: `kind` lesson, semantic or episodic, its `id`, the outcome and the text.
function fillOutcome(card, data) {
  const isLesson = data.kind === "lesson";
  const label = (isLesson ? LESSON_OUTCOMES : FACT_OUTCOMES)[data.outcome] ?? data.outcome;
  const saved = data.outcome !== "refused";
  card.dataset.state = saved ? "saved" : "refused";
  setIcon(card.querySelector(".tool-icon"), saved ? (isLesson ? "lesson" : "bookmark") : "alert");
  card.querySelector(".tool-title").textContent = label;
  const said = saved ? data.text : data.message || data.text;
  const text = card.querySelector(".tool-text");
  text.textContent = said ?? "";
  show(text, Boolean(said));
  const undo = card.querySelector("[data-act=undo]");
  show(undo, data.id != null && UNDOABLE.has(data.outcome));
  undo.dataset.kind = data.kind ?? "";
  undo.dataset.id = data.id ?? "";
}

export function newCard(frame) {
  const card = fromTemplate("tpl-card");
  fillCard(card, frame);
  return card;
}

function undone(card) {
  card.dataset.state = "undone";
  card.querySelector(".tool-title").textContent = "Undone";
  show(card.querySelector("[data-act=undo]"), false);
}

export function markUndone(kind, id) {
  for (const undo of document.querySelectorAll(`[data-act=undo][data-kind="${kind}"][data-id="${id}"]`)) {
    undone(undo.closest(".tool"));
  }
}

// Tool calls of stored messages come as the frames they once were.
export function drawStoredCards(scope) {
  for (const place of scope.querySelectorAll("[data-frame]")) place.replaceWith(newCard(JSON.parse(place.dataset.frame)));
}

export function undoFailed() {
  for (const undo of document.querySelectorAll("[data-act=undo]:disabled")) undo.disabled = false;
}
