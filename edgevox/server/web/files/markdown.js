// The little Markdown that models write, as elements: **bold**, `code`, headings and lists.

import { element } from "./element.js";

const MARKED = /(\*\*[^*\n]+\*\*|`[^`\n]+`)/;

export function markdown(text) {
  const plain = text.replace(/^#+ +(.*)$/gm, "**$1**").replace(/^ *[-*] +/gm, "• ");
  return plain.split(MARKED).map((part, at) => {
    if (at % 2 === 0) return part;
    return part.startsWith("*") ? element("strong", {}, part.slice(2, -2)) : element("code", {}, part.slice(1, -1));
  });
}
