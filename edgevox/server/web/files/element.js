// Creates elements without markup: external data is always text, never HTML.

const SVG = "http://www.w3.org/2000/svg";

// element("button", { type: "button", class: "yes" }, "Yes"); null and false are left out.
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

export function button(kind, click, ...children) {
  return element("button", { type: "button", class: kind, click }, ...children);
}

// A small button whose label says for screen readers what it is about.
export function labelled(words, about, click) {
  const made = button("quiet", click, words);
  made.setAttribute("aria-label", `${words}: ${about}`);
  return made;
}

// A field with a label that only screen readers have.
export function field(label, attributes) {
  return element("input", { "aria-label": label, placeholder: label, ...attributes });
}

export function byId(id) {
  return document.getElementById(id);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
