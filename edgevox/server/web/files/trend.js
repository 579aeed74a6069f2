// Latencies of the day: time to first sound of each turn, and the median of each hour.

import { element, svg } from "./element.js";
import { number, t } from "./texts.js";
import { firstSoundMs, milliseconds, stageName } from "./waterfall.js";

const HEIGHT = 150;
const LEFT = 46;
const BOTTOM = 24;
const TOP = 10;
const RIGHT = 20;
const MARK = 62;
const SHORTEST_MIN = 10;
const SLOW = 1.5; // times the usual wait
const SLOW_MS = 1_000; // and nobody calls less slow
const STEPS_MIN = [1, 2, 5, 10, 15, 30, 60, 120, 180, 240];

export function trend(records, width) {
  const turns = records.filter((one) => one.outcome === "answered" || one.outcome === "interrupted");
  if (turns.length === 0) return element("p", { class: "note" }, t("nothingAnswered"));
  // A turn without sound, of a program or with the sound off, has no first sound.
  const points = turns.flatMap((one) => (firstSoundMs(one) === null ? [] : [{ hour: hourOf(one.at), ms: firstSoundMs(one), said: one.heard }]));
  const words = summary(points, turns.length - points.length, records.length - turns.length);
  if (points.length === 0) return element("p", { class: "note" }, words);
  return element("figure", {}, drawing(points, width, words), element("figcaption", {}, words), table(byHour(points)));
}

function drawing(points, width, words) {
  const { first, last, marks } = span(points, width);
  const most = nice(Math.max(...points.map((point) => point.ms)));
  const x = (hour) => LEFT + ((hour - first) / (last - first)) * (width - LEFT - RIGHT);
  const y = (ms) => HEIGHT - BOTTOM - (ms / most) * (HEIGHT - BOTTOM - TOP);
  const middles = byHour(points).map(({ hour, median }) => `${x(hour + 0.5)},${y(median)}`);
  return svg(
    "svg",
    { class: "trend", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img", "aria-label": words },
    ...[0, 0.5, 1].flatMap((part) => level(part * most, y(part * most), width)),
    ...marks.map((hour) => svg("text", { class: "tick", x: x(hour), y: HEIGHT - 8 }, clock(hour))),
    middles.length > 1 ? svg("polyline", { class: "middle", points: middles.join(" ") }) : null,
    ...points.map((point) =>
      svg("circle", { class: "turn", cx: x(point.hour), cy: y(point.ms), r: 3.5 }, svg("title", {}, `${milliseconds(point.ms)}: ${point.said}`)),
    ),
  );
}

function level(ms, y, width) {
  return [
    svg("line", { class: "grid", x1: LEFT, x2: width, y1: y, y2: y }),
    svg("text", { class: "figure", x: LEFT - 8, y }, `${number(ms / 1000)} s`),
  ];
}

function summary(points, silent, others) {
  const waits = points.map((point) => point.ms);
  const values = { count: points.length, middle: milliseconds(median(waits)), most: milliseconds(Math.max(...waits)) };
  return [
    points.length === 0 ? t("onlySilent", { count: silent }) : t(points.length === 1 ? "oneTurn" : "turnsOfDay", values),
    silent > 0 && points.length > 0 ? t("silentTurns", { count: silent }) : "",
    others > 0 ? t("cameToNothing", { count: others }) : "",
  ].join(" ").trim();
}

// Was the last answer slow, where, and since when: what a person wants to know first.
export function verdict(record, records) {
  const sound = firstSoundMs(record);
  const waits = records.map(firstSoundMs).filter((ms) => ms !== null);
  if (sound === null || waits.length === 0) return "";
  const usual = median(waits);
  const isSlow = sound > SLOW * usual && sound > SLOW_MS;
  const longest = record.stages.filter(({ start_ms: start, name }) => start < sound && name !== "confirm").toSorted((one, other) => length(other) - length(one))[0];
  return [
    t(isSlow ? "wasSlow" : "wasUsual", { time: milliseconds(sound), usual: milliseconds(usual) }),
    longest ? t("mostOfIt", { stage: stageName(longest.name), time: milliseconds(length(longest)) }) : "",
    slowSince(records, usual),
  ].join(" ").trim();
}

// The hour from which on all hours were slow; "" if the last one was not, or all were.
function slowSince(records, usual) {
  const rows = byHour(records.flatMap((one) => (firstSoundMs(one) === null ? [] : [{ hour: hourOf(one.at), ms: firstSoundMs(one) }])));
  const lastFast = rows.findLastIndex((row) => row.median <= SLOW * usual);
  return lastFast >= 0 && lastFast < rows.length - 1 ? t("slowSince", { hour: `${rows[lastFast + 1].hour}:00` }) : "";
}

function length({ start_ms: start, end_ms: end }) {
  return end - start;
}

function table(rows) {
  const cells = rows.map(({ hour, count, median: middle }) =>
    element("tr", {}, element("th", { scope: "row" }, `${hour}:00`), element("td", {}, `${count}`), element("td", {}, milliseconds(middle))),
  );
  const head = element("tr", {}, ...["hour", "turns", "middle"].map((word) => element("th", { scope: "col" }, t(word))));
  return element(
    "details",
    {},
    element("summary", {}, t("asTable")),
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

// The time range with turns, at least ten minutes, and its tick marks.
function span(points, width) {
  const [from, to] = [points[0].hour * 60, points.at(-1).hour * 60];
  const most = Math.floor(width / MARK);
  const every = STEPS_MIN.find((step) => Math.max(SHORTEST_MIN, to - from) / step <= most - 2) ?? 360;
  const first = Math.floor(from / every) * every;
  const last = Math.max(first + SHORTEST_MIN, Math.ceil((to + 0.1) / every) * every);
  const marks = [];
  for (let minute = first; minute <= last; minute += every) marks.push(minute / 60);
  return { first: first / 60, last: last / 60, marks };
}

function clock(hour) {
  const minutes = Math.round(hour * 60);
  return `${Math.floor(minutes / 60)}:${String(minutes % 60).padStart(2, "0")}`;
}

function nice(ms) {
  return [500, 1000, 2000, 4000, 6000, 10_000, 20_000, 60_000].find((one) => ms <= one) ?? Math.ceil(ms / 60_000) * 60_000;
}

function hourOf(at) {
  const time = new Date(at);
  return time.getHours() + time.getMinutes() / 60 + time.getSeconds() / 3600;
}
