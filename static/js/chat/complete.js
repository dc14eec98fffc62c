// Completion of slash commands in a message box: a list above it, arrows choose, Tab or Enter takes.
import { announce } from "./announce.js";
import { byId, make, show } from "./dom.js";

const SHOWN = 8;
const commands = JSON.parse(byId("completions")?.textContent ?? "[]");

function matches(typed) {
  if (!/^\/[^\n]*$/.test(typed)) return [];
  const text = typed.toLowerCase();
  const hasArgument = text.includes(" ");
  return commands
    .filter((one) => one.text.includes(" ") === hasArgument && one.text.toLowerCase().startsWith(text) && one.text !== text)
    .slice(0, SHOWN);
}

export function setUpCompletion(box) {
  const list = byId("complete");
  if (!list) return { isOpen: () => false };
  let found = [];
  let at = 0;

  function close() {
    found = [];
    show(list, false);
    box.removeAttribute("aria-activedescendant");
  }

  function choose(index) {
    at = (index + found.length) % found.length;
    [...list.children].forEach((item, place) => item.setAttribute("aria-selected", String(place === at)));
    list.children[at].scrollIntoView({ block: "nearest" });
    box.setAttribute("aria-activedescendant", list.children[at].id);
    announce(`${found[at].usage}: ${found[at].help}`);
  }

  function draw() {
    found = matches(box.value);
    if (!found.length) return close();
    list.replaceChildren(...found.map((one, place) => {
      const item = make("li", "complete-item");
      item.id = `complete-${place}`;
      item.setAttribute("role", "option");
      item.append(make("code", "", one.usage), make("span", "", one.help));
      item.addEventListener("mousedown", (event) => {
        event.preventDefault();
        at = place;
        take();
      });
      return item;
    }));
    show(list, true);
    choose(0);
  }

  function take() {
    const { text, usage } = found[at];
    box.value = usage === text ? text : `${text} `;
    close();
    box.dispatchEvent(new Event("input"));
  }

  box.addEventListener("input", draw);
  box.addEventListener("blur", close);
  box.addEventListener("keydown", (event) => {
    if (!found.length || event.isComposing) return;
    const moves = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in moves) choose(at + moves[event.key]);
    else if (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey)) take();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  });
  return { isOpen: () => found.length > 0 };
}
