/** Room ids, participant names and limits of room properties. */

/** Default capacity of a room. */
export const DEFAULT_PARTICIPANTS = 8;

/** Maximum characters of a password. */
export const PASSWORD_LENGTH = 50;

/** Normalizes a room id as typed. Returns undefined if it is invalid. */
export function roomIdOf(text: string): string | undefined {
  const id = text.trim().toUpperCase();
  return /^[A-Z0-9]{6}$/.test(id) ? id : undefined;
}

/** Letters and digits, without look-alikes. */
const LETTERS = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

/** Creates a room id from 12 random bytes. */
export function roomIdFromBytes(bytes: Uint8Array): string {
  // Two bytes per letter: with one, the modulo would favour some letters by an eighth.
  const letter = (at: number) => LETTERS[(bytes[at]! * 256 + bytes[at + 1]!) % LETTERS.length]!;
  return [0, 2, 4, 6, 8, 10].map(letter).join('');
}

/** Folds case, accents, width and spacing of a name, so that a kicked person is recognized. */
export const foldName = (name: string): string =>
  name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().replace(/\s+/gu, ' ').trim();
