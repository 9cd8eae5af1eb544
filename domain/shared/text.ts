/** Texts: tidying short ones that people type, cutting long ones that strangers send, comparing secret ones. */

/** Trimmed, white space collapsed, cut to `most` whole code points. */
export const tidy = (text: string, most: number): string =>
  [...text.trim().replace(/\s+/gu, ' ')].slice(0, most).join('').trim();

/** The first `most` UTF-16 units, as a text of its own: who keeps a slice keeps in V8 all of what it was cut from. */
export const truncate = (text: string, most: number): string =>
  text.length <= most ? text : [...text.slice(0, most)].join('');

/** A Braille pattern of no dots counts as a symbol, and looks like a space. */
const HIDDEN = /^[\p{Default_Ignorable_Code_Point}\s\u2800]*$/u;

/** Whether a reader would see anything of it. */
export const isVisible = (text: string): boolean => !HIDDEN.test(text);

/** Compares in a time that does not tell where two texts of equal length differ. */
export function sameText(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let index = 0; index < a.length; index++) difference |= a.charCodeAt(index) ^ b.charCodeAt(index);
  return difference === 0;
}
