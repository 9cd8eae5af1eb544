/** Tidying of short texts that people type. */

/** Trimmed, white space collapsed, cut to `most` whole code points. */
export const tidy = (text: string, most: number): string =>
  [...text.trim().replace(/\s+/gu, ' ')].slice(0, most).join('').trim();
