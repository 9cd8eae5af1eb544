/** Which types of files and images there are, and what the bytes of each begin with. */

/** What is uploaded by itself, or as an image of a channel or conversation. */
export type Purpose = 'file' | 'image';

const FILE_BYTES = 25 * 1024 * 1024;
const IMAGE_BYTES = 10 * 1024 * 1024;
/** In bytes, decoded. */
export const MOST_BYTES: { readonly [purpose in Purpose]: number } = {
  file: FILE_BYTES,
  image: IMAGE_BYTES,
};

/** So many bytes of the beginning tell what it is. */
export const HEAD_BYTES = 4096;

type Check = (head: Uint8Array) => boolean;

const bytes = (...hex: readonly string[]): readonly Uint8Array[] =>
  hex.map((each) => Uint8Array.from(each.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16)));
const beginsWith = (head: Uint8Array, wanted: Uint8Array, from = 0): boolean =>
  wanted.every((byte, at) => head[from + at] === byte);

const begun =
  (signatures: readonly Uint8Array[]): Check =>
  (head) =>
    signatures.some((each) => beginsWith(head, each));

const pdf = begun(bytes('255044462d'));
/** With entries, empty, or in parts. */
const zip = begun(bytes('504b0304', '504b0506', '504b0708'));
const COMPOUND = 'd0cf11e0a1b11ae1';
/** A compound file (OLE), as Office wrote before 2007. */
const compound = begun(bytes(COMPOUND));
/** Office Open XML: a ZIP archive, or a compound file where a password protects it. */
const office = begun(bytes('504b0304', COMPOUND));
const jpeg = begun(bytes('ffd8ff'));
const png = begun(bytes('89504e470d0a1a0a'));
const [RIFF, WEBP] = bytes('52494646', '57454250') as [Uint8Array, Uint8Array];
const webp: Check = (head) => beginsWith(head, RIFF) && beginsWith(head, WEBP, 8);

const BOM = /^\u00ef\u00bb\u00bf/;
/** What may stand before the root of a document: its declaration, comments, instructions, and its type. */
const PROLOG = /^(?:\s+|<\?[^>]*\?>|<!--[\s\S]*?-->|<!DOCTYPE\s+svg\b[^>[]*(?:\[[^\]]*\]\s*)?>)/i;
const ROOT = /^<(?:svg:)?svg(?:[\s>]|\/>)/;

/** Read as bytes: what decides is ASCII. */
const asText = (head: Uint8Array): string => String.fromCharCode(...head);

function svg(head: Uint8Array): boolean {
  let rest = asText(head).replace(BOM, '');
  for (let shorter = rest.replace(PROLOG, ''); shorter !== rest; shorter = rest.replace(PROLOG, '')) rest = shorter;
  return ROOT.test(rest);
}

/** Programs, and what has a type of its own: none of them is a text, whatever it is called. */
const notText = begun([
  ...bytes('4d5a', '7f454c46', 'cafebabe', 'cffaedfe', 'feedface', '47494638', '1f8b08', '526172211a'),
  ...bytes('377abcaf271c', '424d', '49492a00', '4d4d002a'),
]);
/** A text has no signature; but what has that of something else is none. */
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

/** The type of what is called so; undefined where it can't be uploaded for this purpose. */
export function typeOf(extension: string, purpose: Purpose): string | undefined {
  const type = types.get(extension);
  return type?.purpose === purpose ? type.contentType : undefined;
}

/** Whether what begins so can be what its extension says; `head` is its first `HEAD_BYTES`. */
export const fitsType = (extension: string, head: Uint8Array): boolean => types.get(extension)?.is(head) ?? false;

/** The type of an image by what it begins with: a thumbnail has no name. */
export const imageTypeOf = (head: Uint8Array): string | undefined =>
  [...types.values()].find(({ purpose, is }) => purpose === 'image' && is(head))?.contentType;
