/** Formats Content-Disposition (RFC 6266) with an ASCII file name and the exact one (RFC 5987). */

/** Characters that RFC 5987 requires to be percentEncode. */
const ENCODED_CHARACTERS = /[^A-Za-z0-9!#$&+.^_`|~-]/gu;

export const contentDisposition = (kind: 'attachment' | 'inline', name: string): string =>
  `${kind}; filename="${toAscii(name)}"; filename*=UTF-8''${percentEncode(name)}`;

const toAscii = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["\\%]/gu, '_');

const percentEncode = (name: string): string =>
  name.replace(ENCODED_CHARACTERS, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
