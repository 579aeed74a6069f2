// One tool call: what it does in words, and behind a disclosure the call itself with its result.

import { element } from "./element.js";
import { t } from "./texts.js";
import { milliseconds } from "./waterfall.js";

export class ToolCall {
  constructor(name) {
    this.name = name;
    this.written = "";
    this.summary = element("span", { class: "summary" }, "…");
    this.took = element("span", { class: "took" });
    this.shown = element("span", { class: "arguments" });
    this.result = element("p", { class: "result" });
    this.element = element(
      "div",
      { class: "call", "data-state": "written" },
      element("p", { class: "called" }, this.summary, this.took),
      element("details", { class: "raw" }, element("summary", {}, t("rawCall")), element("code", {}, name), " ", this.shown, this.result),
    );
  }

  write(delta) {
    this.written += delta;
    this.shown.textContent = this.written;
  }

  make({ arguments: given, summary }) {
    this.element.dataset.state = "made";
    this.summary.textContent = summary || this.name;
    const pairs = Object.entries(given).map(([key, value]) =>
      element("span", { class: "argument" }, element("span", { class: "argument-name" }, `${key} `), worded(value)),
    );
    this.shown.replaceChildren(...pairs);
  }

  // `refused` is a call without permission; all other errors are failures.
  finish({ is_error: isError, code, content, summary, elapsed_ms: ms }) {
    const isRefused = code === "tool_denied" || code === "token_scope_insufficient";
    this.element.dataset.state = isRefused ? "refused" : isError ? "failed" : "done";
    this.summary.textContent = summary || this.name;
    this.took.textContent = isRefused ? t("refusedCall") : milliseconds(ms);
    this.result.textContent = plain(content);
  }
}

// A result is JSON; a string is shown as a sentence.
function plain(content) {
  try {
    return worded(JSON.parse(content));
  } catch {
    return content;
  }
}

function worded(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
