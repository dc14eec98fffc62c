// The message box: grows with its text, sends on Enter, keeps a draft for each conversation in this tab.
import { setUpCompletion } from "./complete.js";
import { byId, readyToWrite, show } from "./dom.js";
import { setUpModelPicker } from "./models.js";

const FIRST_MESSAGE = "crew-first-message";

export function autosize(box) {
  if (CSS.supports("field-sizing", "content")) return;
  const fit = () => {
    box.style.height = "auto";
    box.style.height = `${box.scrollHeight}px`;
  };
  box.addEventListener("input", fit);
  fit();
}

// Too long a text stays in its box and is refused in words: a browser's `maxlength` cuts what is pasted and says nothing.
function refuseTooLong(box) {
  const most = Number(box.dataset.maxChars);
  box.addEventListener("input", () => {
    const length = box.value.length > most ? [...box.value].length : 0;
    const said = `A message may have ${most.toLocaleString()} characters, this one has ${length.toLocaleString()}.`;
    box.setCustomValidity(length > most ? said : "");
  });
}

export function sendOnEnter(box, form) {
  refuseTooLong(box);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
}

// The start page hands its text to the conversation page that the server redirects to.
export function setUpStart() {
  const form = byId("start-form");
  if (!form) return;
  setUpModelPicker();
  const box = byId("composer-text");
  autosize(box);
  sendOnEnter(box, form);
  readyToWrite();
  form.addEventListener("submit", (event) => {
    if (box.value.trim()) sessionStorage.setItem(FIRST_MESSAGE, box.value);
    else {
      event.preventDefault();
      box.focus();
    }
  });
  for (const button of document.querySelectorAll("[data-example]")) {
    button.addEventListener("click", () => {
      box.value = button.dataset.example;
      box.dispatchEvent(new Event("input"));
      box.focus();
    });
  }
}

export function takeFirstMessage() {
  const text = sessionStorage.getItem(FIRST_MESSAGE);
  sessionStorage.removeItem(FIRST_MESSAGE);
  return text;
}

export function setUpComposer({ conversation, onSend, onStop, onUp }) {
  const form = byId("composer");
  const box = byId("composer-text");
  const draft = `crew-draft-${conversation}`;
  box.value ||= sessionStorage.getItem(draft) ?? "";
  setUpCompletion(box);
  autosize(box);
  box.addEventListener("keydown", (event) => {
    if (event.key !== "ArrowUp" || box.value || event.isComposing) return;
    event.preventDefault();
    onUp();
  });
  sendOnEnter(box, form);
  readyToWrite();
  box.addEventListener("input", () => sessionStorage.setItem(draft, box.value));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = box.value.trim();
    if (!text) return;
    box.value = "";
    sessionStorage.removeItem(draft);
    box.dispatchEvent(new Event("input"));
    onSend(text);
    readyToWrite(); // an empty box has no button to send with while an answer is written
  });
  byId("stop").addEventListener("click", onStop);
  return {
    running(is) {
      show(byId("stop"), is);
    },
  };
}
