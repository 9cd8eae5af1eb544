/** Allowed types of files and images, with checks of their signatures. */

/** A file, or an image of a channel or conversation. */
export type Purpose = 'file' | 'image';

const FILE_BYTES = 25 * 1024 * 1024;
const IMAGE_BYTES = 10 * 1024 * 1024;
/** Decoded bytes. */
export const MAX_BYTES: { readonly [purpose in Purpose]: number } = {
  file: FILE_BYTES,
  image: IMAGE_BYTES,
};

export const HEAD_BYTES = 4096;

type Check = (head: Uint8Array) => boolean;

const bytes = (...hex: readonly string[]): readonly Uint8Array[] =>
  hex.map((each) => Uint8Array.from(each.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)));
const beginsWith = (head: Uint8Array, signature: Uint8Array, from = 0): boolean =>
  signature.every((byte, at) => head[from + at] === byte);

const startsWithAny =
  (signatures: readonly Uint8Array[]): Check =>
  (head) =>
    signatures.some((each) => beginsWith(head, each));

const pdf = startsWithAny(bytes('255044462d'));
/** With entries, empty, or spanned. */
const zip = startsWithAny(bytes('504b0304', '504b0506', '504b0708'));
const COMPOUND = 'd0cf11e0a1b11ae1';
/** A compound file (OLE), as Office wrote before 2007. */
const compound = startsWithAny(bytes(COMPOUND));
/** Office Open XML: a ZIP archive, or a compound file when password-protected. */
const office = startsWithAny(bytes('504b0304', COMPOUND));
const jpeg = startsWithAny(bytes('ffd8ff'));
const png = startsWithAny(bytes('89504e470d0a1a0a'));
const [RIFF, WEBP] = bytes('52494646', '57454250') as [Uint8Array, Uint8Array];
const webp: Check = (head) => beginsWith(head, RIFF) && beginsWith(head, WEBP, 8);

const BOM = /^\u00ef\u00bb\u00bf/;
/** What may precede the root element: XML declaration, comments, processing instructions and doctype. */
const PROLOG = /^(?:\s+|<\?[^>]*\?>|<!--[\s\S]*?-->|<!DOCTYPE\s+svg\b[^>[]*(?:\[[^\]]*\]\s*)?>)/i;
const ROOT = /^<(?:svg:)?svg(?:[\s>]|\/>)/;

/** Latin-1 suffices, as all relevant characters are ASCII. */
const asText = (head: Uint8Array): string => String.fromCharCode(...head);

function svg(head: Uint8Array): boolean {
  let rest = asText(head).replace(BOM, '');
  for (let shorter = rest.replace(PROLOG, ''); shorter !== rest; shorter = rest.replace(PROLOG, '')) rest = shorter;
  return ROOT.test(rest);
}

/** Executables and other binary formats, which are never text. */
const notText = startsWithAny([
  ...bytes('4d5a', '7f454c46', 'cafebabe', 'cffaedfe', 'feedface', '47494638', '1f8b08', '526172211a'),
  ...bytes('377abcaf271c', '424d', '49492a00', '4d4d002a'),
]);
/** Text has no signature, so it is recognised by lacking those of other types. */
const plain: Check = (head) =>
  ![pdf, zip, compound, jpeg, png, webp].some((is) => is(head)) && !(notText(head) && head.includes(0));

interface FileType {
  readonly contentType: string;
  readonly purpose: Purpose;
  readonly is: Check;
}

const OPEN_XML = 'application/vnd.openxmlformats-officedocument';
const ofFile = (contentType: string, is: Check): FileType => ({ contentType, purpose: 'file', is });
const ofImage = (contentType: string, is: Check): FileType => ({ contentType, purpose: 'image', is });

const types: ReadonlyMap<string, FileType> = new Map([
  ['pdf', ofFile('application/pdf', pdf)],
  ['txt', ofFile('text/plain', plain)],
  ['md', ofFile('text/markdown', plain)],
  ['markdown', ofFile('text/markdown', plain)],
  ['csv', ofFile('text/csv', plain)],
  ['json', ofFile('application/json', plain)],
  ['zip', ofFile('application/zip', zip)],
  ['doc', ofFile('application/msword', compound)],
  ['docx', ofFile(`${OPEN_XML}.wordprocessingml.document`, office)],
  ['xls', ofFile('application/vnd.ms-excel', compound)],
  ['xlsx', ofFile(`${OPEN_XML}.spreadsheetml.sheet`, office)],
  ['ppt', ofFile('application/vnd.ms-powerpoint', compound)],
  ['pptx', ofFile(`${OPEN_XML}.presentationml.presentation`, office)],
  ['jpg', ofImage('image/jpeg', jpeg)],
  ['jpeg', ofImage('image/jpeg', jpeg)],
  ['png', ofImage('image/png', png)],
  ['webp', ofImage('image/webp', webp)],
  ['svg', ofImage('image/svg+xml', svg)],
]);

/** Content type of an extension; undefined when not allowed for this purpose. */
export function typeOf(extension: string, purpose: Purpose): string | undefined {
  const type = types.get(extension);
  return type?.purpose === purpose ? type.contentType : undefined;
}

/** Whether the content matches the extension; `head` is its first `HEAD_BYTES`. */
export const fitsType = (extension: string, head: Uint8Array): boolean => types.get(extension)?.is(head) ?? false;

/** Image type by signature; used for thumbnails, which have no name. */
export const imageTypeOf = (head: Uint8Array): string | undefined =>
  [...types.values()].find(({ purpose, is }) => purpose === 'image' && is(head))?.contentType;
