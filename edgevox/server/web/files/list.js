// A list of data with ids: an item is drawn again only if its data has changed, and not while a person types there.

const CONTROLS = "button, input, select, summary";

export class KeyedList {
  /** `draw(data)` returns the element of an item. */
  constructor(place, draw) {
    this.place = place;
    this.draw = draw;
    this.drawn = new Map();
  }

  show(items) {
    const before = this.drawn;
    this.drawn = new Map(items.map((item) => [item.id, this.item(item, before.get(item.id))]));
    const nodes = [...this.drawn.values()].map(({ node }) => node);
    const focused = [...before].find(([, { node }]) => node.contains(document.activeElement));
    const at = focused ? [...focused[1].node.querySelectorAll(CONTROLS)].indexOf(document.activeElement) : -1;
    for (const old of [...this.place.children]) if (!nodes.includes(old)) old.remove();
    // A node that is moved loses the focus.
    for (const [index, node] of nodes.entries()) if (this.place.children[index] !== node) this.place.insertBefore(node, this.place.children[index] ?? null);
    // One that was drawn again keeps it where it was.
    const anew = focused && this.drawn.get(focused[0])?.node;
    if (anew && !anew.contains(document.activeElement)) anew.querySelectorAll(CONTROLS)[at]?.focus();
  }

  item(data, known) {
    const words = JSON.stringify(data);
    if (known && (known.words === words || isEdited(known.node))) return known;
    return { words, node: this.draw(data) };
  }
}

function isEdited(node) {
  const { activeElement: focused } = document;
  return node.querySelector(".edit") !== null || (node.contains(focused) && focused.type === "text" && focused.value !== "");
}
