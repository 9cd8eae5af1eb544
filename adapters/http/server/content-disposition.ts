/** How a name is told that something is to be kept under (RFC 6266): in ASCII for old clients, and as it is (RFC 5987). */

/** What RFC 5987 lets stand as it is. */
const PLAIN = /[^A-Za-z0-9!#$&+.^_`|~-]/gu;

export const disposition = (kind: 'attachment' | 'inline', name: string): string =>
  `${kind}; filename="${ascii(name)}"; filename*=UTF-8''${encoded(name)}`;

const ascii = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^\x20-\x7e]|["\\%]/gu, '_');

const encoded = (name: string): string =>
  name.replace(PLAIN, (character) =>
    [...Buffer.from(character)].map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(''),
  );
