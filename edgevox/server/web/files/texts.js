// The texts of the page, in English or German: a catalogue for each with the same keys. What the assistant says comes from the
// server, in its own language.

export const language = navigator.language.startsWith("de") ? "de" : "en";
const { TEXTS } = await import(`./texts-${language}.js`);

export function t(key, values = {}) {
  return TEXTS[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

// Texts that not every key has: the kind of an entity, the name of an engine.
export function known(key) {
  return key in TEXTS;
}

// The name of a language, such as "en" or "en-US", in that of the page.
export function languageName(code) {
  return new Intl.DisplayNames(language, { type: "language" }).of(code);
}

// The time of day of an ISO date.
export function clock(at) {
  return new Date(at).toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });
}

export function dayName(day) {
  return new Date(`${day}T12:00`).toLocaleDateString(language, { weekday: "long", day: "numeric", month: "long" });
}

// Fills in the texts of the markup: data-text, data-label (for screen readers) and data-placeholder.
export function translatePage() {
  document.documentElement.lang = language;
  for (const node of document.querySelectorAll("[data-text]")) node.textContent = t(node.dataset.text);
  for (const node of document.querySelectorAll("[data-label]")) node.setAttribute("aria-label", t(node.dataset.label));
  for (const node of document.querySelectorAll("[data-placeholder]")) node.placeholder = t(node.dataset.placeholder);
}
