/** Bytes and their texts: base64url without padding, UTF-8, random bytes, constant encodings for signatures. */

export type Bytes = Uint8Array<ArrayBuffer>;

export const utf8 = (text: string): Bytes => new TextEncoder().encode(text) as Bytes;

/** Throws for bytes that are not UTF-8. */
export const fromUtf8 = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

export const randomBytes = (size: number): Bytes => crypto.getRandomValues(new Uint8Array(size));

const CHUNK = 0x8000;

export function toBase64url(source: Uint8Array | ArrayBuffer): string {
  const bytes = source instanceof Uint8Array ? source : new Uint8Array(source);
  let binary = '';
  for (let at = 0; at < bytes.length; at += CHUNK) binary += String.fromCharCode(...bytes.subarray(at, at + CHUNK));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Throws for anything but base64url. */
export function fromBase64url(text: string): Bytes {
  if (!/^[\w-]*$/.test(text)) throw new TypeError('Not base64url');
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

export function concat(...parts: readonly Uint8Array[]): Bytes {
  const joined = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}

/** One encoding for each list of values: what is signed or authenticated cannot be read in two ways. */
export const canonical = (context: string, ...values: readonly (string | number)[]): Bytes =>
  utf8(JSON.stringify([`annals-rooms 1 ${context}`, ...values]));

/** Overwrites a secret; copies that the browser made are out of reach. */
export const wipe = (bytes: Uint8Array | undefined): void => void bytes?.fill(0);
