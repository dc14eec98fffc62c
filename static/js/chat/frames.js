// What each frame of protocol v1 does to the page.
import { announce } from "./announce.js";
import * as answers from "./answers.js";
import { markRestored, markUndone, undoFailed } from "./cards.js";
import { byId, show } from "./dom.js";
import { refreshList, showTitle } from "./list.js";
import * as thread from "./thread.js";

const MODES = {
  persistent: "Remembers",
  incognito: "Reads memory, writes none",
  temporary: "Neither reads nor writes memory",
};
const ENDED = {
  stopped: "Stopped.",
  interrupted: "Interrupted: the server went away during this answer.",
  length: "Cut off: the model reached the longest answer it may give.",
  content_filter: "Broken off: the model's provider kept the rest back.",
};
const AGAIN = new Set(["stopped", "interrupted"]);
const QUIET = new Set(["stopped", "length"]); // what went as it was told to is no alarm
const CUT = "Too long to send at once: reload the page to see all of it.";

// How an answer ended, for the line under it, and whether it may be tried again.
function ending(reason, cut) {
  const tone = QUIET.has(reason) ? "quiet" : "bad";
  return { note: [ENDED[reason], cut ? CUT : ""].filter(Boolean).join(" "), retryable: AGAIN.has(reason), tone };
}

function showMode(mode) {
  const badge = byId("mode-badge");
  badge.textContent = mode[0].toUpperCase() + mode.slice(1);
  badge.title = MODES[mode] ?? "";
  badge.classList.toggle("badge-good", mode === "persistent");
  byId("chat").dataset.writes = mode === "persistent" ? "1" : "";
  byId("pick-mode").value = mode;
}

// What is back needs no words of its own; what is not does.
function settleRestored(rows, frame) {
  if (!markRestored(rows)) thread.addNote(frame);
}

function showModel(name, picker) {
  const badge = byId("model-badge");
  badge.textContent = name === "memory" ? "No model connected" : name ?? "";
  show(badge, Boolean(name) && !picker);
}

export function handlers({ connection, unsent, running, picker, notify, settle, greet, reread, refused }) {
  return {
    hello(frame) {
      if (frame.mode) showMode(frame.mode);
      showModel(frame.model, picker);
      const limits = (frame.degraded ?? []).filter((code) => !code.startsWith("llm_"));
      byId("limits-badge").title = limits.map((code) => code.replaceAll("_", " ")).join(", ");
      show(byId("limits-badge"), limits.length > 0);
      if (frame.branch !== undefined && frame.branch !== byId("lines").dataset.branch) reread().then(greet);
      else greet();
    },
    branch(frame) {
      if (frame.hidden === null) {
        reread();
        return;
      }
      byId("lines").dataset.branch = frame.branch;
      thread.hide(frame.hidden);
    },
    title(frame) {
      showTitle(frame.title);
      refreshList();
    },
    message(frame) {
      const message = frame.message ?? frame;
      unsent.delete(message.client_key);
      if (message.role === "user") thread.confirmUser(message, message.client_key);
      else if (message.role === "system") thread.addNote({ text: message.content, html: message.html });
      else showAnswer(message, frame);
    },
    "turn.started"(frame) {
      if (frame.client_key) unsent.delete(frame.client_key);
      const known = document.querySelector(`.msg-assistant[data-turn="${frame.turn}"]`);
      running.add(frame.turn);
      const asked = thread.byMessage(frame.message);
      if (asked) asked.dataset.turn = frame.turn;
      if (known && !known.hasAttribute("data-live")) answers.restart(frame.turn);
      else answers.answerOf(frame.turn);
      for (const note of document.querySelectorAll(`.note[data-waiting="${frame.turn}"]`)) note.remove();
      if (frame.title && byId("thread-title").textContent !== frame.title) refreshList();
      announce("Answering.");
      settle();
    },
    delta(frame) {
      running.add(frame.turn);
      if (answers.applyDelta(frame.turn, frame.offset, frame.text)) return;
      const live = answers.liveTurns().find((one) => one.turn === frame.turn);
      connection.send("resume", { after_seq: thread.lastSeq(), turn: frame.turn, offset: live.offset });
    },
    tool(frame) {
      if (frame.state === "asking") announce(`The model asks to use ${frame.name}. Allow or deny it.`);
      if (frame.turn) answers.applyTool(frame.turn, frame);
      else thread.addCard(frame);
    },
    "turn.done"(frame) {
      const message = typeof frame.message === "object" && frame.message ? frame.message : { id: frame.message };
      const ended = ending(frame.finish_reason ?? message.finish_reason, frame.cut);
      running.delete(frame.turn);
      settle(answers.finish(frame.turn, { html: frame.html ?? message.html, message, ...ended }));
    },
    "turn.failed"(frame) {
      running.delete(frame.turn);
      const note = ENDED[frame.message?.finish_reason] ?? frame.reason;
      answers.finish(frame.turn, { html: frame.message?.html, message: frame.message ?? {}, note, retryable: frame.retryable });
      settle(`The answer failed. ${note}`);
    },
    notice(frame) {
      const data = frame.data ?? {};
      if (data.mode) showMode(data.mode);
      if (data.label) {
        showModel(data.label, picker);
        picker?.show(data.model, data.label);
      }
      if (data.open) location.assign(data.open);
      if (data.undone) markUndone(data.undone.kind, data.undone.id);
      else if (data.restored) settleRestored(data.restored, frame);
      else if (data.outcome) thread.addCard({ name: data.kind === "lesson" ? "learn_add" : "memory_remember", state: "done", result: frame.text, data });
      else thread.addNote(frame);
      announce(frame.text);
    },
    error(frame) {
      if (frame.client_key) refused(frame.client_key);
      if (frame.code === "not_found" && frame.kind && frame.id) markUndone(frame.kind, frame.id);
      undoFailed();
      notify(frame.message ?? frame.code, "error");
    },
  };

  function showAnswer(message, frame) {
    if (document.querySelector(`.msg[data-id="${message.id}"]`)) return;
    const turn = message.turn ?? `message-${message.id}`;
    if (running.has(turn) && !message.finish_reason) return;
    running.delete(turn);
    const ended = ending(message.finish_reason, frame.cut);
    answers.finish(turn, { html: message.html, message, ...ended });
    settle();
  }
}
