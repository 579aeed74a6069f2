// The little Markdown that models write, as elements: **bold**, *italics*, `code`, links, headings, lists and fenced code.

import { element } from "./element.js";

const FENCED = /^```[^\n]*\n([^]*?)^```[ \t]*$/m;
// No lookbehind: Safari before 16.4 does not load a page that has one.
const MARKED =
  /\*\*[^*\n]+\*\*|`[^`\n]+`|\[[^\]\n]+\]\(https?:\/\/[^\s()]+\)|\*(?:[^*\s]|[^*\s][^*\n]*[^*\s])\*(?![\w*])|_(?:[^_\s]|[^_\s][^_\n]*[^_\s])_(?!\w)/g;

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
  const parts = [];
  let end = 0;
  MARKED.lastIndex = 0;
  for (let found = MARKED.exec(plain); found !== null; found = MARKED.exec(plain)) {
    if (isInWord(found[0], plain.charAt(found.index - 1))) {
      MARKED.lastIndex = found.index + 1;
      continue;
    }
    parts.push(plain.slice(end, found.index), styled(found[0]));
    end = MARKED.lastIndex;
  }
  return [...parts, plain.slice(end)];
}

// "2*3*4" and "a_b_c" are no italics.
function isInWord(part, before) {
  if (part.startsWith("_")) return /\w/.test(before);
  return /^\*(?!\*)/.test(part) && /[\w*]/.test(before);
}

function styled(part) {
  if (part.startsWith("[")) {
    const [words, address] = part.slice(1, -1).split("](");
    return element("a", { href: address, title: address, target: "_blank", rel: "noopener noreferrer" }, words);
  }
  if (part.startsWith("**")) return element("strong", {}, part.slice(2, -2));
  return element(part.startsWith("`") ? "code" : "em", {}, part.slice(1, -1));
}
