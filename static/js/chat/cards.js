// Tool cards: what a tool was asked and what came of it, with Undo where something was saved.
import { byId, fromTemplate, make, setIcon, show } from "./dom.js";

const TOOLS = {
  learn_add: { asks: "Save this lesson?", doing: "Saving a lesson…", done: "Lesson", denied: "Lesson not saved", icon: "lesson" },
  memory_remember: { asks: "Remember this?", doing: "Remembering…", done: "Memory", denied: "Not remembered", icon: "bookmark" },
  learn_list: { asks: "Read the lessons?", doing: "Reading the lessons…", done: "Read the lessons", icon: "lesson" },
  learn_remove: { asks: "Remove this lesson?", doing: "Removing a lesson…", done: "Lesson removed", denied: "Lesson kept", icon: "lesson" },
  memory_recall: { asks: "Search memory?", doing: "Searching memory…", done: "Searched memory", icon: "search" },
};
const LESSON_OUTCOMES = {
  inserted: "Lesson saved",
  replaced: "Lesson saved, an earlier one replaced",
  enriched: "Lesson completed",
  unchanged: "Already known",
  refused: "Not saved",
  removed: "Lesson removed",
  ambiguous: "Several lessons match",
  not_found: "No such lesson",
  forbidden: "Not removed",
};
const FACT_OUTCOMES = {
  created: "Fact saved",
  updated: "Fact updated",
  stored: "Remembered",
  deduped: "Already known, confirmed",
  unchanged: "Already known",
  refused: "Not saved",
};
const OPEN = new Set(["running", "asking"]);
const UNDOABLE = new Set(["inserted", "enriched", "replaced", "created", "updated", "stored"]);

const asText = (value) => (value == null ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));

export function fillCard(card, frame) {
  const data = frame.data ?? {};
  const tool = TOOLS[frame.name] ?? { doing: `${frame.name}…`, done: frame.name, icon: "tool" };
  const icons = { failed: "alert", asking: "shield", denied: "shield" };
  setIcon(card.querySelector(".tool-icon"), icons[frame.state] ?? tool.icon);
  card.dataset.state = frame.state ?? "done";
  if (frame.at != null) card.dataset.at = frame.at;
  const titles = {
    running: tool.doing,
    asking: tool.asks ?? `Allow “${frame.name}”?`,
    denied: tool.denied ?? `Not allowed: ${frame.name}`,
    failed: `Failed: ${tool.done}`,
  };
  card.querySelector(".tool-title").textContent = titles[frame.state] ?? tool.done;
  say(card, given(frame.args));
  fillDetails(card, frame);
  fillChoices(card, frame);
  if (!OPEN.has(frame.state) && data.outcome) fillOutcome(card, frame);
  if (frame.gone) undone(card);
}

// What the model waits for: one button for each thing the person may say.
function fillChoices(card, frame) {
  const row = card.querySelector(".tool-choices");
  const choices = frame.state === "asking" ? frame.choices ?? [] : [];
  row.replaceChildren(...choices.map((choice) => {
    const button = make("button", `btn btn-s${choice === choices[0] && choice.allows ? " btn-primary" : ""}`, choice.label);
    button.type = "button";
    Object.assign(button.dataset, { act: "answer", call: frame.id, choice: choice.id });
    return button;
  }));
  show(row, choices.length > 0);
  card.querySelector(".tool-more").open = choices.length > 0 && !given(frame.args);
}

function fillDetails(card, frame) {
  const parts = [asText(frame.args), frame.args || frame.id ? asText(frame.result) : ""].filter(Boolean);
  const lines = parts.join("\n\n").split("\n");
  const isDiff = lines.some((line) => line.startsWith("@@ "));
  card.querySelector(".tool-pre").replaceChildren(...lines.flatMap((line) => [isDiff ? diffLine(line) : line, "\n"]));
  show(card.querySelector(".tool-more"), parts.length > 0);
}

function diffLine(line) {
  const kind = { "+": "diff-added", "-": "diff-removed" }[line[0]];
  return kind ? make("span", kind, line) : line;
}

function say(card, said) {
  const text = card.querySelector(".tool-text");
  text.textContent = said ?? "";
  show(text, Boolean(said));
}

// What the tool was given, in words; its arguments come as JSON that may have been cut short.
function given(args) {
  try {
    const { rule, text, query, key, value } = JSON.parse(args);
    return rule || text || query || (key ? `${key} = ${asText(value)}` : "");
  } catch {
    return "";
  }
}

// `data` names what was written: kind lesson, semantic or episodic, its id and the outcome. A lesson comes with its
// rule; for the others it is
// what the tool was given, or the sentence of the result, less the words that the title already has.
function fillOutcome(card, frame) {
  const data = frame.data;
  const isLesson = data.kind === "lesson" || frame.name === "learn_add";
  const label = (isLesson ? LESSON_OUTCOMES : FACT_OUTCOMES)[data.outcome] ?? data.outcome;
  const saved = data.outcome !== "refused";
  const wrote = UNDOABLE.has(data.outcome);
  card.dataset.state = wrote ? "saved" : saved ? "done" : "refused";
  setIcon(card.querySelector(".tool-icon"), saved ? (isLesson ? "lesson" : "bookmark") : "alert");
  card.querySelector(".tool-title").textContent = label;
  const sentence = asText(frame.result)
    .replace(/^(Lesson saved|Fact saved|Fact already known|Saved|Not saved|Not stored): /, "")
    .replace(/^“([^”]*)”\.$/, "$1");
  say(card, saved ? data.rule || given(frame.args) || sentence : data.message || sentence);
  const undo = card.querySelector(".tool-undo");
  if (data.outcome === "removed" && data.ids) offerBack(undo, data.ids.map((id) => ({ kind: data.kind, id })));
  else {
    show(undo, data.id != null && wrote);
    undo.dataset.kind = data.kind ?? "";
    undo.dataset.id = data.id ?? "";
  }
}

// One Undo for all that was taken away at once.
export function offerBack(button, rows) {
  button.dataset.act = "restore";
  button.dataset.forgotten = JSON.stringify(rows);
  show(button, true);
}

export function newCard(frame) {
  const card = fromTemplate("tpl-card");
  fillCard(card, frame);
  return card;
}

// A turn that is over waits for nobody: calls without a result never get one.
export function endCards(scope) {
  for (const card of scope.querySelectorAll(".tool")) {
    if (!OPEN.has(card.dataset.state)) continue;
    card.dataset.state = "failed";
    setIcon(card.querySelector(".tool-icon"), "alert");
    card.querySelector(".tool-title").textContent = "Ended without a result";
    show(card.querySelector(".tool-choices"), false);
  }
}

function undone(card, title = "Undone") {
  card.dataset.state = "undone";
  card.querySelector(".tool-title").textContent = title;
  putAway(card.querySelector(".tool-undo"));
}

// A button that is gone takes the keyboard with it: the message box is where one goes on.
function putAway(button) {
  const hadFocus = button === document.activeElement || (button.disabled && document.activeElement === document.body);
  show(button, false);
  if (hadFocus) byId("composer-text")?.focus();
}

export function markUndone(kind, id) {
  for (const undo of document.querySelectorAll(`[data-act=undo][data-kind="${kind}"][data-id="${id}"]`)) {
    undone(undo.closest(".tool"));
  }
}

// A card whose rows are all back is done with; one of which some stay away keeps its button. Whether there was one.
export function markRestored(rows) {
  let marked = false;
  const back = new Set(rows.map(({ kind, id }) => `${kind} ${id}`));
  for (const button of document.querySelectorAll("[data-act=restore]")) {
    const wanted = JSON.parse(button.dataset.forgotten);
    if (!wanted.every(({ kind, id }) => back.has(`${kind} ${id}`))) continue;
    const card = button.closest(".tool");
    if (card) undone(card, "Remembered again");
    else button.closest(".note").dataset.state = "undone";
    putAway(button);
    marked = true;
  }
  return marked;
}

// Tool calls of stored messages come as the frames they once were.
export function drawStoredCards(scope) {
  for (const place of scope.querySelectorAll("[data-frame]")) place.replaceWith(newCard(JSON.parse(place.dataset.frame)));
}

export function undoFailed() {
  for (const undo of document.querySelectorAll(":is([data-act=undo], [data-act=restore]):disabled")) undo.disabled = false;
}
