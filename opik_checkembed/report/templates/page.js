"use strict";

/* What both pages share. Data becomes text nodes and attributes, never markup. */

const PAGE = 50;
const byId = (id) => document.getElementById(id);
const read = (id) => JSON.parse(byId(id).textContent);
const number = new Intl.NumberFormat("en-US");

/** Text with what would be obeyed, or not seen, made visible: control characters, direction overrides, half characters. */
function shown(text) {
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202d\u202e\ud800-\udfff]/gu, (char) =>
    char === "\r" ? "" : `[U+${char.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined) node.append(child instanceof Node ? child : shown(child));
  }
  return node;
}

const el = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const svg = (name, attributes = {}, ...children) =>
  filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** A number as the reports of this package write it: three decimals, fewer where they would say nothing. */
function figure(value) {
  const size = Math.abs(value);
  if ((size >= 0.0005 && size < 1000) || size < 1e-9) return (size < 1e-9 ? 0 : value).toFixed(3);
  return String(Number(value.toPrecision(3)));
}

/** A score's name that may break before an underscore. */
const breakable = (name) => name.split(/(?=_)/).flatMap((part, at) => (at ? [el("wbr"), part] : [part]));

const counted = (count, word) => `${number.format(count)} ${word}${count === 1 ? "" : "s"}`;

/** Shows one page of rows at a time: what is not seen is not built. */
class Pager {
  constructor(draw) {
    this.draw = draw;
    this.rows = [];
    this.at = 0;
    byId("earlier").addEventListener("click", () => this.go(this.at - PAGE));
    byId("later").addEventListener("click", () => this.go(this.at + PAGE));
  }

  show(rows) {
    this.rows = rows;
    this.go(0, false);
  }

  go(at, scroll = true) {
    this.at = Math.max(0, at);
    const end = Math.min(this.at + PAGE, this.rows.length);
    this.draw(this.rows.slice(this.at, end));
    byId("page").textContent = this.rows.length
      ? `${number.format(this.at + 1)} to ${number.format(end)} of ${number.format(this.rows.length)}` : "";
    byId("earlier").disabled = this.at === 0;
    byId("later").disabled = end >= this.rows.length;
    byId("earlier").parentElement.hidden = this.rows.length <= PAGE;
    if (scroll) byId("items").scrollIntoView();
  }
}

/** The items' texts, folded for a search, made when somebody searches. */
function searched(items, texts) {
  let folded = null;
  return (place, words) => {
    folded ??= items.map((item) => texts(item).join("\n").toLowerCase());
    return folded[place].includes(words);
  };
}
