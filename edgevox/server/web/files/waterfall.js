// Latency waterfall of one turn: a bar per stage.

import { element, svg } from "./element.js";
import { known, number, t } from "./texts.js";

const ROW = 26;
const BAR = 12;
const LABEL = 92;
const FIGURE = 74;
const TICK = 52;

export function milliseconds(ms) {
  return ms < 1000 ? `${Math.round(ms)}\u00a0ms` : `${number(ms / 1000, 2)}\u00a0s`;
}

// Time from the end of speech to the first sound of the reply; null for a turn without sound.
export function firstSoundMs({ stages }) {
  const speak = stages.find((stage) => stage.name === "speak");
  if (!speak) return null;
  const asked = stages.find((stage) => stage.name === "confirm" && stage.end_ms <= speak.start_ms);
  return asked ? speak.start_ms - (asked.end_ms - asked.start_ms) : speak.start_ms;
}

// Duration of a turn, without the time in which it only waited for a yes.
export function tookMs({ total_ms: total, stages }) {
  const asked = stages.find((stage) => stage.name === "confirm");
  return asked ? total - waitedMs(asked, stages) : total;
}

// How long nothing but the wait went on: the question is spoken meanwhile.
function waitedMs({ start_ms: start, end_ms: end }, stages) {
  let [waited, from] = [0, start];
  const others = stages.filter((stage) => stage.name !== "confirm").toSorted((one, other) => one.start_ms - other.start_ms);
  for (const other of others) {
    waited += Math.max(0, Math.min(other.start_ms, end) - from);
    from = Math.max(from, Math.min(other.end_ms, end));
  }
  return waited + end - from;
}

// The chart with labels, `width` pixels wide.
export function waterfall(record, width) {
  const stages = record.stages.toSorted((one, other) => one.start_ms - other.start_ms);
  const height = (stages.length + 1) * ROW;
  const drawing = svg(
    "svg",
    { class: "waterfall", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": summary(record, stages) },
    ...gridLines(record, width, height),
    ...stages.map((stage, row) => bar(stage, row, record.total_ms, width)),
    total(record, stages.length, width),
  );
  return element("figure", {}, drawing, element("figcaption", {}, caption(record)));
}

function summary(record, stages) {
  const parts = stages.map((stage) => `${stageName(stage.name)} ${milliseconds(stage.end_ms - stage.start_ms)}`);
  return t("inAllTook", { parts: parts.join(", "), time: milliseconds(tookMs(record)) });
}

function caption(record) {
  const sound = firstSoundMs(record);
  const early = record.transcribed_early_ms;
  return [
    sound === null ? "" : t("captionSound", { time: milliseconds(sound) }),
    early > 0 ? t("captionEarly", { time: milliseconds(early) }) : "",
    // A rule answers without the model.
    record.prompt_tokens > 0 ? t("captionTokens", { written: record.generated_tokens, read: record.prompt_tokens, known: record.cached_tokens }) : "",
  ].join(" ").trim();
}

export function stageName(name) {
  return known(`stage.${name}`) ? t(`stage.${name}`) : name.replaceAll("_", " ");
}

function scale(ms, total, width) {
  return LABEL + (total > 0 ? (ms / total) * (width - LABEL - FIGURE) : 0);
}

function bar(stage, row, total, width) {
  const left = scale(stage.start_ms, total, width);
  const right = scale(stage.end_ms, total, width);
  const middle = row * ROW + ROW / 2;
  return svg(
    "g",
    { class: `stage ${stage.name}` },
    svg("text", { x: LABEL - 12, y: middle, class: "label" }, stageName(stage.name)),
    svg("rect", { x: left, y: middle - BAR / 2, width: Math.max(2, right - left), height: BAR, rx: 3 }),
    svg("text", { x: width, y: middle, class: "figure" }, milliseconds(stage.end_ms - stage.start_ms)),
  );
}

function total(record, row, width) {
  const middle = row * ROW + ROW / 2;
  return svg(
    "g",
    { class: "total" },
    svg("text", { x: LABEL - 12, y: middle, class: "label" }, t("inAll")),
    svg("text", { x: width, y: middle, class: "figure" }, milliseconds(tookMs(record))),
  );
}

function gridLines(record, width, height) {
  const most = (width - LABEL - FIGURE) / TICK;
  const step = [50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000].find((one) => record.total_ms / one <= most) ?? 120_000;
  const lines = [];
  for (let ms = 0; ms <= record.total_ms; ms += step) {
    const x = scale(ms, record.total_ms, width);
    lines.push(svg("line", { class: "grid", x1: x, x2: x, y1: 0, y2: height - ROW }));
    lines.push(svg("text", { class: "tick", x, y: height - ROW / 2 }, ms < 1000 ? `${ms}` : `${number(ms / 1000)} s`));
  }
  return lines;
}
