/** DOM helpers. */

/** Returns an element of the document; throws if it does not exist. */
export function byId<Kind extends HTMLElement = HTMLElement>(id: string): Kind {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the document has no #${id}`);
  return found as Kind;
}

/** Whether a key belongs to composing a text. Safari ends the composition before the key that confirms it. */
export const isComposing = (event: KeyboardEvent): boolean => event.isComposing || event.keyCode === 229;

/** Whether the keyboard is on the screen: it has no Shift+Enter, and covers half of the page. */
export const isTouch = (): boolean => matchMedia('(hover: none) and (pointer: coarse)').matches;
