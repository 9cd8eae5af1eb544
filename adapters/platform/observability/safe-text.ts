/** Escapes untrusted text for output on a terminal. */

/** Escapes control characters as JSON does: they could move the cursor, ring bells, change the title, reverse text. */
export const escapeControls = (text: string): string =>
  text.replaceAll(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, (character) =>
    character === '\n' ? '\\n' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
