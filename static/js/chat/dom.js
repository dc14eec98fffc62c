// Small DOM tools shared by the chat modules.
export const byId = (id) => document.getElementById(id);

export function fromTemplate(id) {
  return byId(id).content.firstElementChild.cloneNode(true);
}

export function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

export function show(node, visible) {
  if (node) node.hidden = !visible;
}

export function setIcon(svg, name) {
  svg.querySelector("use").setAttribute("href", `#i-${name}`);
}

// Where a finger points, a keyboard would come up and cover what there is to read.
export function readyToWrite() {
  if (matchMedia("(pointer: fine)").matches) byId("composer-text").focus();
}

// Python counts code points, JavaScript UTF-16 units; offsets on the wire are code points.
export const points = (text) => Array.from(text);
