/** DOM helpers: create and find elements without parsing HTML, so that texts cannot inject markup. */

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

/** Whether a key belongs to composing a text. Safari ends the composition before the key that confirms it. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;
