// The day: how long each turn took to its first sound, and the middle of each hour.

import { element, svg } from "./element.js";
import { firstSoundMs, milliseconds } from "./waterfall.js";

const HEIGHT = 150;
const LEFT = 46;
const BOTTOM = 24;
const TOP = 10;

// What a turn is judged by: its first sound, or, where nothing was spoken, its end.
export function waitMs(record) {
  return firstSoundMs(record) ?? record.total_ms;
}

export function trend(records, width) {
  const turns = records.filter((one) => one.outcome === "answered" || one.outcome === "interrupted");
  if (turns.length === 0) return element("p", { class: "note" }, "Nothing was answered today yet.");
  const points = turns.map((one) => ({ hour: hourOf(one.at), ms: waitMs(one), said: one.heard }));
  const words = summary(points, records.length - turns.length);
  return element("figure", {}, drawing(points, width, words), element("figcaption", {}, words), table(byHour(points)));
}

function drawing(points, width, words) {
  const [first, last] = span(points);
  const most = nice(Math.max(...points.map((point) => point.ms)));
  const x = (hour) => LEFT + ((hour - first) / (last - first)) * (width - LEFT - 8);
  const y = (ms) => HEIGHT - BOTTOM - (ms / most) * (HEIGHT - BOTTOM - TOP);
  const middles = byHour(points).map(({ hour, median }) => `${x(hour + 0.5)},${y(median)}`);
  return svg(
    "svg",
    { class: "trend", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": words },
    ...[0, 0.5, 1].flatMap((part) => level(part * most, y(part * most), width)),
    ...hours(first, last, width).map((hour) => svg("text", { class: "tick", x: x(hour), y: HEIGHT - 6 }, `${hour}:00`)),
    middles.length > 1 ? svg("polyline", { class: "middle", points: middles.join(" ") }) : null,
    ...points.map((point) =>
      svg("circle", { class: "turn", cx: x(point.hour), cy: y(point.ms), r: 3.5 }, svg("title", {}, `${milliseconds(point.ms)}: ${point.said}`)),
    ),
  );
}

function level(ms, y, width) {
  return [
    svg("line", { class: "grid", x1: LEFT, x2: width, y1: y, y2: y }),
    svg("text", { class: "figure", x: LEFT - 8, y }, `${ms / 1000} s`),
  ];
}

function summary(points, others) {
  const waits = points.map((point) => point.ms);
  const turns = points.length === 1 ? "One turn was" : `${points.length} turns were`;
  const rest = others > 0 ? ` ${others} came to nothing.` : "";
  return `${turns} answered, the first sound after ${milliseconds(median(waits))} in the middle and ${milliseconds(Math.max(...waits))} at most.${rest}`;
}

function table(rows) {
  const cells = rows.map(({ hour, count, median: middle }) =>
    element("tr", {}, element("th", { scope: "row" }, `${hour}:00`), element("td", {}, `${count}`), element("td", {}, milliseconds(middle))),
  );
  const head = element("tr", {}, ...["hour", "turns", "middle"].map((word) => element("th", { scope: "col" }, word)));
  return element(
    "details",
    {},
    element("summary", {}, "As a table"),
    element("table", {}, element("thead", {}, head), element("tbody", {}, ...cells)),
  );
}

function byHour(points) {
  const rows = new Map();
  for (const point of points) {
    const hour = Math.floor(point.hour);
    rows.set(hour, [...(rows.get(hour) ?? []), point]);
  }
  return [...rows].map(([hour, group]) => ({ hour, count: group.length, median: median(group.map((one) => one.ms)) }));
}

function median(values) {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

// Whole hours around the turns, four at least.
function span(points) {
  const first = Math.floor(points[0].hour);
  const last = Math.ceil(points.at(-1).hour + 0.01);
  const missing = Math.max(0, 4 - (last - first));
  const before = Math.min(first, Math.ceil(missing / 2));
  return [first - before, Math.min(24, last + missing - before)];
}

function hours(first, last, width) {
  const every = [1, 2, 3, 4, 6].find((one) => (last - first) / one <= width / 70) ?? 8;
  const found = [];
  for (let hour = first; hour <= last; hour += every) found.push(hour);
  return found;
}

function nice(ms) {
  return [500, 1000, 2000, 4000, 6000, 10_000, 20_000, 60_000].find((one) => ms <= one) ?? Math.ceil(ms / 60_000) * 60_000;
}

function hourOf(at) {
  const time = new Date(at);
  return time.getHours() + time.getMinutes() / 60 + time.getSeconds() / 3600;
}
