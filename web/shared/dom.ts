/** DOM helpers: create elements and keyed lists without parsing HTML, so that texts cannot inject markup. */

type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[Tag], 'style' | 'dataset'>
> & { readonly [attribute: `${string}-${string}`]: string };

/** Creates an element. Names with a hyphen (`aria-label`, `data-id`) become attributes, others properties. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties<Tag> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-')) created.setAttribute(name, String(value));
    else Object.assign(created, { [name]: value });
  }
  created.append(...children);
  return created;
}

/** Returns an element of the document; throws if it does not exist. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the document has no #${id}`);
  return found as Kind;
}

export interface ListEntry<Item> {
  readonly element: HTMLElement;
  update(item: Item): void;
  /** Runs after the element was removed. */
  onRemove?(): void;
}

/** Renders a keyed list in order. Items keep their element and focus across updates. */
export function list<Item>(container: HTMLElement, create: (id: string) => ListEntry<Item>) {
  const entries = new Map<string, ListEntry<Item>>();
  return (items: ReadonlyMap<string, Item>): void => {
    for (const [id, entry] of entries) {
      if (items.has(id)) continue;
      entry.element.remove();
      entry.onRemove?.();
      entries.delete(id);
    }
    let previous: Element | null = null;
    for (const [id, item] of items) {
      const entry = entries.get(id) ?? create(id);
      entries.set(id, entry);
      entry.update(item);
      const next: Element | null = previous ? previous.nextElementSibling : container.firstElementChild;
      if (next !== entry.element) container.insertBefore(entry.element, next);
      previous = entry.element;
    }
  };
}

/** Sets state and label of a toggle button. */
export function setPressed(button: HTMLButtonElement, on: boolean, label: string): void {
  button.setAttribute('aria-pressed', String(on));
  button.textContent = label;
}
