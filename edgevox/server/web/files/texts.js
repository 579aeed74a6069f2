// The texts of the page, in English or German: a catalogue for each with the same keys. What the assistant says comes from the
// server, in its own language.

import { SPOKEN } from "./texts-spoken.js";

export const language = navigator.language.startsWith("de") ? "de" : "en";
// With the region of the browser: 18:30 in Britain is 06:30 PM in America.
export const locale = navigator.language.startsWith(language) ? navigator.language : language;
const [{ TEXTS }, { SERVER_TEXTS }] = await Promise.all([
  import(`./texts-${language}.js`),
  language === "en" ? { SERVER_TEXTS: {} } : import(`./texts-server-${language}.js`),
]);

let spokenTexts = SPOKEN[language];

export function t(key, values = {}) {
  return TEXTS[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// What is said to the assistant, and by it, is in its own language; English for one without texts here.
export function speakIn(code) {
  spokenTexts = SPOKEN[code] ?? SPOKEN.en;
}

export function spoken(key) {
  return spokenTexts[key];
}

// Texts that not every key has: the kind of an entity, the name of an engine.
export function known(key) {
  return key in TEXTS;
}

// A sentence that the server has in English, by its key; as the server wrote it where the catalogue lacks it.
export function fromServer(key, english) {
  return SERVER_TEXTS[key] ?? english;
}

// The language of such a sentence, for screen readers.
export function serverLanguage(key) {
  return key in SERVER_TEXTS ? language : "en";
}

// The name of a language, such as "en" or "en-US", in that of the page.
export function languageName(code) {
  return new Intl.DisplayNames(language, { type: "language" }).of(code);
}

// The time of day of an ISO date.
export function clock(at) {
  return new Date(at).toLocaleTimeString(locale, { hour: "2-digit", minute: "2-digit" });
}

export function dayName(day) {
  return new Date(`${day}T12:00`).toLocaleDateString(locale, { weekday: "long", day: "numeric", month: "long" });
}

// "today", "tomorrow", or the name of the day.
export function nearDay(ms) {
  const midnight = (time) => new Date(time).setHours(0, 0, 0, 0);
  const days = Math.round((midnight(ms) - midnight(Date.now())) / 86_400_000);
  const words = days < 2 ? new Intl.RelativeTimeFormat(locale, { numeric: "auto" }).format(days, "day") : new Date(ms).toLocaleDateString(locale, { weekday: "long", day: "numeric", month: "long" });
  return words[0].toUpperCase() + words.slice(1);
}

// A number as it is written in the language: "1,5" in German.
export function number(value, digits) {
  return value.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits ?? 2 });
}

export function quoted(words) {
  return t("quoted", { words });
}

// Fills in the texts of the markup: data-text, data-label (for screen readers) and data-placeholder.
export function translatePage() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", t(node.dataset.label));
  for (const node of document.querySelectorAll("[data-placeholder]")) node.placeholder = t(node.dataset.placeholder);
}
