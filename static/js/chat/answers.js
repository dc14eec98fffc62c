// Answers: as they stream, with the tool calls where they happened, and how each turn ended.
import { endCards, fillCard, newCard } from "./cards.js";
import { byId, fromTemplate, make, points, show } from "./dom.js";
import { decorate } from "./prose.js";
import { LiveText } from "./stream.js";
import { append, problem, sourceOf, stamp } from "./thread.js";

const turns = new Map(); // turn id -> { node, body, received (code points), raw, live, waiting (cards yet to be reached) }

export function answerOf(turn) {
  let state = turns.get(turn);
  if (!state) {
    const node = document.querySelector(`.msg-assistant[data-turn="${turn}"]`) ?? place(turn);
    node.dataset.turn = turn;
    state = { node, body: node.querySelector(".msg-body") };
    turns.set(turn, state);
    startStream(state);
  }
  return state;
}

// Under its question, also where something else was asked meanwhile.
function place(turn) {
  const node = fromTemplate("tpl-assistant");
  const question = [...document.querySelectorAll(`.msg-user[data-turn="${turn}"]`)].at(-1);
  if (!question?.nextElementSibling?.matches(".msg-user")) return append(node);
  question.after(node);
  return node;
}

function startStream(state) {
  Object.assign(state, { received: 0, raw: "", live: new LiveText(state.body), waiting: [] });
  state.body.replaceChildren();
  state.body.setAttribute("data-streaming", "");
  state.node.setAttribute("data-live", "");
  state.node.querySelector(".cards").replaceChildren();
  problem(state.node, "");
}

// The lines were read anew: what was being written is written into new ones.
export function forget() {
  turns.clear();
}

// A retry answers in the place of the earlier attempt.
export function restart(turn) {
  startStream(answerOf(turn));
  for (const asked of document.querySelectorAll(`.msg-user[data-turn="${turn}"]`)) problem(asked, "");
}

// True when the piece fitted; false when something before it is missing and must be asked for again.
export function applyDelta(turn, offset, text) {
  const state = answerOf(turn);
  if (offset > state.received) return false;
  let fresh = points(text).slice(state.received - offset);
  while (fresh.length) {
    const next = state.waiting[0];
    const room = next ? Math.max(0, next.at - state.received) : fresh.length;
    write(state, fresh.slice(0, room));
    fresh = fresh.slice(room);
    if (next && next.at <= state.received) insert(state, state.waiting.shift().card);
  }
  return true;
}

function write(state, characters) {
  if (!characters.length) return;
  const piece = characters.join("");
  state.received += characters.length;
  state.raw += piece;
  state.live.add(piece);
}

function insert(state, card) {
  state.live.start();
  const holder = state.body.lastElementChild?.matches(".cards") ? state.body.lastElementChild : make("div", "cards");
  holder.append(card);
  state.body.append(holder);
}

export function applyTool(turn, frame) {
  const state = answerOf(turn);
  const id = String(frame.id ?? "");
  const known = state.waiting.find((one) => one.card.dataset.card === id)?.card
    ?? [...state.node.querySelectorAll(".tool")].find((one) => one.dataset.card === id);
  if (known) {
    fillCard(known, frame);
    return;
  }
  const card = newCard(frame);
  card.dataset.card = id;
  if (frame.at > state.received) state.waiting.push({ at: frame.at, card });
  else insert(state, card);
}

// Where the server's rendering has marks, the cards that stand above it go to them, in their order.
export function placeCards(message) {
  const holder = message.querySelector(".cards");
  const marks = message.querySelectorAll(".msg-body .call-mark");
  const cards = [...holder.children].filter((card) => card.dataset.at !== undefined);
  marks.forEach((mark, at) => {
    const beside = mark.previousElementSibling;
    const there = beside?.matches(".cards") ? beside : make("div", "cards");
    if (cards.length === marks.length) {
      there.append(cards[at]);
      mark.before(there);
    }
    mark.remove();
  });
}

// Calls of a turn that this page was not told about while it ran.
function drawMissed(node, calls) {
  const shown = new Set([...node.querySelectorAll(".tool")].map((card) => card.dataset.card));
  for (const call of calls) {
    if (shown.has(call.id)) continue;
    const card = newCard({ ...call, args: call.args_summary, result: call.summary });
    card.dataset.card = call.id;
    node.querySelector(".cards").append(card);
  }
}

function end(turn) {
  const state = answerOf(turn);
  turns.delete(turn);
  const cards = [...state.body.querySelectorAll(".tool"), ...state.waiting.map((one) => one.card)];
  state.node.querySelector(".cards").append(...cards);
  state.node.removeAttribute("data-live");
  endCards(state.node);
  state.body.removeAttribute("data-streaming");
  show(state.node.querySelector("[data-act=context]"), true);
  show(state.node.querySelector("[data-act=remember]"), Boolean(byId("chat").dataset.writes));
  return state;
}

export function finish(turn, { html, message, note, ...how }) {
  const state = end(turn);
  const source = message.content || state.raw;
  if (html) state.body.innerHTML = html; // rendered and sanitised by the server
  else state.body.textContent = source;
  const spoken = state.body.textContent;
  drawMissed(state.node, message.tool_calls ?? []);
  placeCards(state.node);
  decorate(state.body);
  sourceOf.set(state.node, source);
  if (message.id) state.node.dataset.id = message.id;
  if (message.seq) state.node.dataset.seq = message.seq;
  stamp(state.node, message.created_at);
  problem(state.node, note, how);
  return spoken;
}

export function liveTurns() {
  return [...turns].map(([turn, state]) => ({ turn, offset: state.received }));
}
