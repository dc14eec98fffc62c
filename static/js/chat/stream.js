// An answer while it is written: its Markdown is shown as it comes, close to what the server makes of it at the end, so
// that nothing jumps then. Builds nodes from text only; links become live with the server's rendering.
import { make } from "./dom.js";
import { framed } from "./prose.js";

const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^(#{1,6}) +(.*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])( *\1){2,} *$/;
const DELIMITERS = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const TASK = /^\[([ xX])\] /;
// A bare address as `crewsite/conversations/addresses.py` reads it.
const END = String.raw`\s<>"'\x60\[\]\(\)\{\}、。，」』）】》！？；`;
const ADDRESS = String.raw`(?<![A-Za-z0-9_])https?:\/\/(?=[\p{L}\p{N}_])(?:[^${END}]|\([^${END}]*\))*(?:[^${END}.,;:!?*_~]|\([^${END}]*\))`;
const INLINE = new RegExp(String.raw`(\x60+)(.+?)\1|\*\*(\S(?:.*?\S)?)\*\*|\*([^\s*](?:[^*]*[^\s*])?)\*|\[((?:epi|sem|les|his|msg|doc):[\w.:]+)\]|\[([^\]]+)\]\((?:https?:[^\s\)]+)\)|(${ADDRESS})`, "gsu");

function inline(node, text) {
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    plain(node, text.slice(end, found.index));
    const [whole, , code, bold, italic, cited, label, address] = found;
    if (code !== undefined) node.append(make("code", "", code));
    else if (bold !== undefined) node.append(inline(make("strong"), bold));
    else if (italic !== undefined) node.append(inline(make("em"), italic));
    else node.append(make("span", cited ? "cite" : "live-link", cited ?? label ?? address));
    end = found.index + whole.length;
  }
  plain(node, text.slice(end));
  return node;
}

function plain(node, text) {
  text.split("\n").forEach((line, at) => node.append(...(at ? [make("br"), line] : [line])));
}

function list(lines) {
  const top = document.createDocumentFragment();
  const open = []; // of the lists around a line: the column they start in, their node
  for (const line of lines) {
    const [, blanks, sign, text] = line.match(ITEM) ?? [];
    if (sign === undefined) {
      inline(open.at(-1).node.lastElementChild, `\n${line.trim()}`);
      continue;
    }
    while (open.length > 1 && blanks.length < open.at(-1).column) open.pop();
    if (!open.length || blanks.length > open.at(-1).column + 1) {
      const node = make(/\d/.test(sign) ? "ol" : "ul");
      if (node.tagName === "OL") node.start = parseInt(sign, 10);
      (open.at(-1)?.node.lastElementChild ?? top).append(node);
      open.push({ column: blanks.length, node });
    }
    open.at(-1).node.append(item(text));
  }
  return top;
}

function item(text) {
  const ticked = text.match(TASK)?.[1];
  if (ticked === undefined) return inline(make("li"), text);
  return inline(make("li", "task"), `${ticked === " " ? "☐" : "☑"} ${text.slice(4)}`);
}

const cellsOf = (line) => line.trim().replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
const ALIGNED = { ":-:": "center", "-:": "right" };

function table(lines) {
  const sides = cellsOf(lines[1]).map((sign) => ALIGNED[sign.replace(/-+/, "-")]);
  const rows = lines.filter((_line, at) => at !== 1).map((line, at) => {
    const row = make("tr");
    row.append(...cellsOf(line).map((text, column) => {
      const cell = inline(make(at ? "td" : "th"), text);
      if (sides[column]) cell.align = sides[column];
      return cell;
    }));
    return row;
  });
  const node = make("table");
  node.append(...rows);
  return node;
}

// One block of lines, without a blank line in it.
function block(text) {
  const made = document.createDocumentFragment();
  const lines = text.replace(/\n+$/, "").split("\n");
  const head = lines.findIndex((line, at) => line.includes("|") && DELIMITERS.test(lines[at + 1] ?? ""));
  let said = [];
  const flush = () => {
    if (!said.length) return;
    made.append(ITEM.test(said[0]) ? list(said) : said[0].startsWith(">") ? quote(said) : inline(make("p"), said.join("\n")));
    said = [];
  };
  for (const line of head < 0 ? lines : lines.slice(0, head)) {
    const heading = line.match(HEADING);
    const starts = ITEM.test(line) !== (said.length > 0 && ITEM.test(said[0])) && ITEM.test(line);
    if (heading || RULE.test(line) || starts) flush();
    if (heading) made.append(inline(make(`h${heading[1].length}`), heading[2]));
    else if (RULE.test(line)) made.append(make("hr"));
    else said.push(line);
  }
  flush();
  if (head >= 0) made.append(table(lines.slice(head)));
  return made;
}

function quote(lines) {
  const node = make("blockquote");
  node.append(inline(make("p"), lines.map((line) => line.replace(/^> ?/, "")).join("\n")));
  return node;
}

// Nothing in such a piece changes how what stands before it reads, except within an address.
const SIMPLE = /^[^`*[\])|/\n]*$/;
const IN_ADDRESS = /https?:\/\/\S*$/;

// Without a last line that may be the head of a table: the next one tells.
function told(text) {
  const lines = text.split("\n");
  let head = lines.length - 1;
  while (head > 0 && lines[head - 1].startsWith("|")) head -= 1;
  const [first, second, third] = lines.slice(head);
  const isOpen = first.startsWith("|") && third === undefined && /^[ \t|:-]*$/.test(second ?? "");
  return isOpen ? lines.slice(0, head).join("\n") : text;
}

// What stands before the last blank line is made once and left alone; the block after it is made anew as it grows.
export class LiveText {
  constructor(node) {
    this.node = node;
    this.start();
  }

  // A new run of text, after a tool call.
  start() {
    if (this.open) this.draw(this.open);
    this.open = "";
    this.tail = [];
    this.growing = null;
  }

  add(piece) {
    this.open += piece;
    if (this.growing && (this.growing.tagName === "CODE" ? /^[^`~]*$/ : SIMPLE).test(piece)) {
      this.growing.append(piece);
      return;
    }
    for (let end = this.closed(); end > 0; end = this.closed()) {
      this.draw(this.open.slice(0, end));
      this.tail = [];
      this.open = this.open.slice(end);
    }
    const shown = FENCE.test(this.open) ? this.open : told(this.open);
    this.draw(shown);
    const last = this.tail.at(-1);
    const code = this.open.includes("\n") ? last?.querySelector("pre > code") : null;
    const isText = last?.tagName === "P" && shown === this.open && !IN_ADDRESS.test(shown);
    this.growing = isText ? last : code ?? null;
  }

  // Where the first block ends for good; 0 while it does not.
  closed() {
    this.open = this.open.replace(/^\n+/, "");
    const fence = this.open.match(FENCE)?.[1];
    if (fence) {
      const end = this.open.slice(fence.length).search(new RegExp(`\\n {0,3}${fence[0]}{${fence.length},} *\\n`));
      return end < 0 ? 0 : this.open.indexOf("\n", fence.length + end + 1) + 1;
    }
    const ends = [this.open.search(/\n[ \t]*\n/), this.open.search(/\n {0,3}(```|~~~)/)].filter((end) => end >= 0);
    return ends.length ? Math.min(...ends) + 1 : 0;
  }

  draw(text) {
    for (const node of this.tail) node.remove();
    const fence = text.match(FENCE)?.[1];
    const made = fence ? code(text, fence) : text.trim() ? block(text) : document.createDocumentFragment();
    this.tail = [...made.childNodes];
    this.node.append(...this.tail);
  }
}

function code(text, fence) {
  const made = document.createDocumentFragment();
  const inside = text.includes("\n") ? text.slice(text.indexOf("\n") + 1) : "";
  const pre = make("pre");
  pre.append(make("code", "", inside.replace(new RegExp(`(^|\\n) {0,3}${fence[0]}{${fence.length},} *\\n?$`), "$1")));
  made.append(framed(pre, text.slice(fence.length).match(/^ *(\S*)/)[1]));
  return made;
}
