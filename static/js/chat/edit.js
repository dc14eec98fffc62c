// Editing a message in its place: the same question in other words, as another version.
import { autosize, sendOnEnter } from "./composer.js";
import { fromTemplate, readyToWrite, show } from "./dom.js";

export function startEdit(message, onSend) {
  if (message.querySelector(".edit")) return;
  const body = message.querySelector(".msg-body");
  const actions = message.querySelector(".msg-actions");
  const form = fromTemplate("tpl-edit");
  const box = form.querySelector("textarea");
  const id = `edit-${message.dataset.id}`;
  box.id = id;
  form.querySelector("label").htmlFor = id;
  box.value = body.textContent;
  show(body, false);
  show(actions, false);
  body.after(form);
  autosize(box);
  box.focus();
  box.setSelectionRange(box.value.length, box.value.length);

  function end() {
    form.remove();
    show(body, true);
    show(actions, true);
  }
  function cancel() {
    end();
    message.querySelector("[data-act=edit]").focus();
  }
  form.querySelector("[data-cancel]").addEventListener("click", cancel);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      cancel();
    }
  });
  sendOnEnter(box, form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = box.value.trim();
    if (!text) return;
    end();
    onSend(text);
    readyToWrite();
  });
}
