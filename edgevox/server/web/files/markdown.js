// The little Markdown that models write, as elements: **bold**, *italics*, `code`, links, headings, lists and fenced code.

import { element } from "./element.js";

const FENCED = /^```[^\n]*\n([^]*?)^```[ \t]*$/m;
const MARKED =
  /(\*\*[^*\n]+\*\*|`[^`\n]+`|\[[^\]\n]+\]\(https?:\/\/[^\s()]+\)|(?<![\w*])\*(?!\s)[^*\n]+(?<!\s)\*(?![\w*])|(?<!\w)_(?!\s)[^_\n]+(?<!\s)_(?!\w))/;

export function markdown(text) {
  return text.split(FENCED).flatMap((part, at) => (at % 2 === 0 ? marked(part.replace(/^\n|\n$/g, "")) : element("pre", {}, element("code", {}, part.trimEnd()))));
}

// A sentence with `commands`; one that stands there already is not read aloud again.
export function showNote(node, words) {
  const parts = markdown(words);
  if (node.textContent !== parts.map((part) => part.textContent ?? part).join("")) node.replaceChildren(...parts);
  node.hidden = words === "";
}

function marked(text) {
  const plain = text.replace(/^#+ +(.*)$/gm, "**$1**").replace(/^ *[-*] +/gm, "• ");
  return plain.split(MARKED).map((part, at) => (at % 2 === 0 ? part : styled(part)));
}

function styled(part) {
  if (part.startsWith("[")) {
    const [words, address] = part.slice(1, -1).split("](");
    return element("a", { href: address, title: address, target: "_blank", rel: "noopener noreferrer" }, words);
  }
  if (part.startsWith("**")) return element("strong", {}, part.slice(2, -2));
  return element(part.startsWith("`") ? "code" : "em", {}, part.slice(1, -1));
}
