/** Making and changing what a page shows, without a word of HTML in texts. */

type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[Tag], 'style' | 'dataset'>
> & { readonly [attribute: `${string}-${string}`]: string };

/** Names with a hyphen (`aria-label`, `data-id`) are attributes, the others properties. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties<Tag> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) made.setAttribute(name, String(value));
    else Object.assign(made, { [name]: value });
  }
  made.append(...children);
  return made;
}

/** An element of the document, which is known to be there. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the document has no #${id}`);
  return found as Kind;
}

export interface Shown<Item> {
  readonly element: HTMLElement;
  update(item: Item): void;
  /** It is shown no longer. */
  gone?(): void;
}

/** Shows each item, in order. An element stays as long as its item does, and what has the focus keeps it. */
export function list<Item>(container: HTMLElement, show: (id: string) => Shown<Item>) {
  const shown = new Map<string, Shown<Item>>();
  return (items: ReadonlyMap<string, Item>): void => {
    for (const [id, each] of shown) {
      if (items.has(id)) continue;
      each.element.remove();
      each.gone?.();
      shown.delete(id);
    }
    let before: Element | null = null;
    for (const [id, item] of items) {
      const each = shown.get(id) ?? show(id);
      shown.set(id, each);
      each.update(item);
      const next: Element | null = before ? before.nextElementSibling : container.firstElementChild;
      if (next !== each.element) container.insertBefore(each.element, next);
      before = each.element;
    }
  };
}

/** A button that is on or off. */
export function pressed(button: HTMLButtonElement, on: boolean, label: string): void {
  button.setAttribute('aria-pressed', String(on));
  button.textContent = label;
}
