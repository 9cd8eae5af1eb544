/** What rooms are called, and how much may be said of them. */

/** People that a room has place for where nobody said how many. */
export const DEFAULT_PARTICIPANTS = 8;

/** Characters of a password, at most. */
export const PASSWORD_LENGTH = 50;

/** As people write it: in either case, with blanks around it. Undefined where no room can be called so. */
export function roomIdOf(text: string): string | undefined {
  const id = text.trim().toUpperCase();
  return /^[A-Z0-9]{6}$/.test(id) ? id : undefined;
}

/** Without those that look like another. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

/** Of bytes that nobody can foresee, 12 of them. */
export function roomIdFromBytes(bytes: Uint8Array): string {
  // Two bytes for each: of one, some letters would come up an eighth more often.
  const letter = (at: number) => LETTERS[(bytes[at]! * 256 + bytes[at + 1]!) % LETTERS.length]!;
  return [0, 2, 4, 6, 8, 10].map(letter).join('');
}

/** A person's name without differences of case, accents, width and spacing, so that a kicked person is recognised. */
export const foldName = (name: string): string =>
  name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/gu, ' ').trim();
