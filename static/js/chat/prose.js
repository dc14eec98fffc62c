// What the page adds to rendered Markdown: a copy button on code blocks, links that open in a new tab, and whose
// memory a citation means.
import { byId, make } from "./dom.js";

const SAID_MS = 1600;

// Over plain http to another host there is no clipboard interface.
function copyOldWay(text) {
  const box = make("textarea", "sr-only");
  box.value = text;
  const focused = document.activeElement;
  document.body.append(box);
  box.select();
  document.execCommand("copy");
  box.remove();
  focused?.focus();
}

export async function copyText(text, button) {
  await (navigator.clipboard?.writeText(text) ?? copyOldWay(text));
  const label = button.querySelector("span") ?? button;
  const before = label.textContent;
  if (before === "Copied") return;
  label.textContent = "Copied";
  setTimeout(() => (label.textContent = before), SAID_MS);
}

// A block of code under a line that names its language and copies it.
export function framed(block, language) {
  const wrap = make("div", "code-wrap");
  const head = make("div", "code-head");
  const button = make("button", "act code-copy", "Copy");
  button.type = "button";
  button.addEventListener("click", () => copyText(block.textContent, button));
  block.tabIndex = 0; // a wide block can be scrolled with the keyboard
  head.append(make("span", "", language || "text"), button);
  wrap.append(head, block);
  return wrap;
}

export function decorate(scope) {
  for (const block of scope.querySelectorAll("pre")) {
    if (block.parentElement.classList.contains("code-wrap") || block.closest(".tool")) continue;
    const place = document.createComment("");
    block.replaceWith(place);
    place.replaceWith(framed(block, block.querySelector("code")?.className.match(/language-(\S+)/)?.[1]));
  }
  for (const link of scope.querySelectorAll("a[href]")) {
    if (link.host !== location.host) link.target = "_blank";
    else if (link.pathname.startsWith("/memory/cited/")) link.setAttribute("href", `${link.pathname}?${new URLSearchParams({ workspace: byId("chat").dataset.workspace })}`);
  }
}
