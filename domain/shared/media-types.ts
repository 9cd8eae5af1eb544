/** Media types by file extension, with checks of their signatures. */

/** Bytes of the beginning of a file that the checks look at. */
export const HEAD_BYTES = 4096;

type Check = (head: Uint8Array) => boolean;

export interface MediaType {
  readonly contentType: string;
  /** Whether a file can begin like this; `head` is its first `HEAD_BYTES`. */
  readonly matches: Check;
}

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
  ![pdf, zip, compound, jpeg, png, webp].some((matches) => matches(head)) && !(notText(head) && head.includes(0));

const OPEN_XML = 'application/vnd.openxmlformats-officedocument';

/** By extension, in lower case. */
export const mediaTypes: ReadonlyMap<string, MediaType> = new Map([
  ['pdf', { contentType: 'application/pdf', matches: pdf }],
  ['txt', { contentType: 'text/plain', matches: plain }],
  ['md', { contentType: 'text/markdown', matches: plain }],
  ['markdown', { contentType: 'text/markdown', matches: plain }],
  ['csv', { contentType: 'text/csv', matches: plain }],
  ['json', { contentType: 'application/json', matches: plain }],
  ['zip', { contentType: 'application/zip', matches: zip }],
  ['doc', { contentType: 'application/msword', matches: compound }],
  ['docx', { contentType: `${OPEN_XML}.wordprocessingml.document`, matches: office }],
  ['xls', { contentType: 'application/vnd.ms-excel', matches: compound }],
  ['xlsx', { contentType: `${OPEN_XML}.spreadsheetml.sheet`, matches: office }],
  ['ppt', { contentType: 'application/vnd.ms-powerpoint', matches: compound }],
  ['pptx', { contentType: `${OPEN_XML}.presentationml.presentation`, matches: office }],
  ['jpg', { contentType: 'image/jpeg', matches: jpeg }],
  ['jpeg', { contentType: 'image/jpeg', matches: jpeg }],
  ['png', { contentType: 'image/png', matches: png }],
  ['webp', { contentType: 'image/webp', matches: webp }],
  ['svg', { contentType: 'image/svg+xml', matches: svg }],
]);
