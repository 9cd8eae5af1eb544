/** Encodes bytes as base64 and back. */

export function toBase64(bytes: Uint8Array): string {
  let text = '';
  // `String.fromCharCode` accepts this many arguments in every browser.
  for (let from = 0; from < bytes.length; from += 8192)
    text += String.fromCharCode(...bytes.subarray(from, from + 8192));
  return btoa(text);
}

/** Returns undefined if the text is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
