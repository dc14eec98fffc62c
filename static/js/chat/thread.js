// The messages of one conversation: what was sent, answers as they stream, and how each turn ended.
import { endCards, fillCard, newCard } from "./cards.js";
import { byId, fromTemplate, make, points, show } from "./dom.js";
import { decorate } from "./prose.js";

const turns = new Map(); // turn id -> { node, received (code points), raw }

export const sourceOf = new WeakMap(); // message node -> its Markdown, for Copy and Remember

function append(node) {
  show(byId("thread-empty"), false);
  byId("messages-inner").append(node);
  return node;
}

function stamp(node, iso) {
  const time = node.querySelector(".act-time");
  const at = iso ? new Date(iso) : new Date();
  time.dateTime = at.toISOString();
  time.textContent = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
}

export function addUser(text, { clientKey, isCommand = false } = {}) {
  const node = fromTemplate("tpl-user");
  if (isCommand) node.querySelector("[data-act=remember]").remove();
  node.querySelector(".msg-body").textContent = text;
  node.dataset.key = clientKey ?? "";
  node.toggleAttribute("data-pending", Boolean(clientKey));
  stamp(node);
  return append(node);
}

export function confirmUser(message, clientKey) {
  if (message.id && byMessage(message.id)) return;
  const pending = [...document.querySelectorAll(".msg-user[data-pending]")];
  const body = (node) => node.querySelector(".msg-body").textContent;
  const node = pending.find((one) => clientKey && one.dataset.key === clientKey)
    ?? pending.find((one) => body(one) === message.content)
    ?? addUser(message.content);
  node.removeAttribute("data-pending");
  node.dataset.id = message.id ?? "";
  if (message.turn) node.dataset.turn = message.turn;
  if (message.seq) node.dataset.seq = message.seq;
  if (message.created_at) stamp(node, message.created_at);
  if (message.versions) showVersions(node, message.versions);
}

export const byMessage = (id) => document.querySelector(`.msg[data-id="${id}"]`);

// Which version of a question this is, and the way to those beside it.
function showVersions(node, { ids, at }) {
  show(node.querySelector(".versions"), ids.length > 1);
  node.querySelector(".versions-at").textContent = `${at} of ${ids.length}`;
  for (const [act, id] of [["before", ids[at - 2]], ["after", ids[at]]]) {
    const button = node.querySelector(`[data-act=${act}]`);
    button.dataset.message = id ?? "";
    button.disabled = id === undefined;
  }
}

export function hide(ids) {
  for (const id of ids) byMessage(id)?.remove();
}

export function stampAll(scope) {
  for (const time of scope.querySelectorAll(".act-time[datetime]")) stamp(time.closest(".msg"), time.dateTime);
}

// The lines were read anew: what was being written is written into new ones.
export function forget() {
  turns.clear();
}

export const questionOf = (answer) => document.querySelector(`.msg-user[data-turn="${answer.dataset.turn}"]`);

// What a command answered: shown to this person, not part of the transcript.
export function addNote({ text, html, level, data }) {
  const node = make("div", `note prose${level === "warning" ? " note-warning" : ""}`);
  if (data?.turn) node.dataset.waiting = data.turn;
  if (html) node.innerHTML = html; // rendered and sanitised by the server
  else node.textContent = text;
  decorate(node);
  append(node);
}

export function addCard(frame) {
  const holder = make("div", "cards");
  holder.append(newCard(frame));
  append(holder);
}

export function answerOf(turn) {
  let state = turns.get(turn);
  if (!state) {
    const node = document.querySelector(`.msg-assistant[data-turn="${turn}"]`) ?? append(fromTemplate("tpl-assistant"));
    node.dataset.turn = turn;
    state = { node, received: 0, raw: "" };
    turns.set(turn, state);
    startStream(state);
  }
  return state;
}

function startStream(state) {
  const body = state.node.querySelector(".msg-body");
  body.replaceChildren();
  body.setAttribute("data-streaming", "");
  state.node.setAttribute("data-live", "");
  problem(state.node, "", false);
}

// A retry answers in the place of the earlier attempt.
export function restart(turn) {
  const state = answerOf(turn);
  state.received = 0;
  state.raw = "";
  state.node.querySelector(".cards").replaceChildren();
  startStream(state);
  for (const asked of document.querySelectorAll(`.msg-user[data-turn="${turn}"]`)) problem(asked, "", false);
}

// True when the piece fitted; false when something before it is missing and must be asked for again.
export function applyDelta(turn, offset, text) {
  const state = answerOf(turn);
  if (offset > state.received) return false;
  const fresh = points(text).slice(state.received - offset);
  if (!fresh.length) return true;
  state.received += fresh.length;
  const piece = fresh.join("");
  state.raw += piece;
  state.node.querySelector(".msg-body").append(piece);
  return true;
}

export function applyTool(turn, frame) {
  const { node } = answerOf(turn);
  const holder = node.querySelector(".cards");
  const running = [...holder.children].filter((card) => card.dataset.state === "running" && card.dataset.name === frame.name);
  const card = (frame.id && [...holder.children].find((one) => one.dataset.card === String(frame.id))) || running.at(0);
  if (card) fillCard(card, frame);
  else {
    const fresh = newCard(frame);
    fresh.dataset.card = frame.id ?? "";
    fresh.dataset.name = frame.name;
    holder.append(fresh);
  }
}

function end(turn) {
  const state = answerOf(turn);
  turns.delete(turn);
  state.node.removeAttribute("data-live");
  endCards(state.node);
  state.node.querySelector(".msg-body").removeAttribute("data-streaming");
  show(state.node.querySelector("[data-act=context]"), true);
  show(state.node.querySelector("[data-act=remember]"), Boolean(byId("chat").dataset.writes));
  return state;
}

export function finish(turn, { html, message, note, retryable }) {
  const state = end(turn);
  const body = state.node.querySelector(".msg-body");
  const source = message.content || state.raw;
  if (html) body.innerHTML = html; // rendered and sanitised by the server
  else body.textContent = source;
  decorate(body);
  sourceOf.set(state.node, source);
  if (message.id) state.node.dataset.id = message.id;
  if (message.seq) state.node.dataset.seq = message.seq;
  stamp(state.node, message.created_at);
  problem(state.node, note, retryable);
  return body.textContent;
}

function problem(node, reason, retryable) {
  const line = node.querySelector(".msg-problem");
  line.querySelector(".msg-reason").textContent = reason ?? "";
  show(line, Boolean(reason));
  show(line.querySelector("[data-act=retry]"), Boolean(retryable));
}

export function liveTurns() {
  return [...turns].map(([turn, state]) => ({ turn, offset: state.received }));
}

export function lastSeq() {
  const seqs = [...document.querySelectorAll(".msg[data-seq]")].map((node) => Number(node.dataset.seq));
  return Math.max(0, ...seqs, Number(byId("lines").dataset.lastSeq) || 0);
}
