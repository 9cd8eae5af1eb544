/** File types that the service accepts, and the errors about others. */

const FILE_EXTENSIONS = [
  'pdf',
  'txt',
  'md',
  'markdown',
  'csv',
  'json',
  'zip',
  'doc',
  'docx',
  'xls',
  'xlsx',
  'ppt',
  'pptx',
];
const IMAGE_EXTENSIONS = ['jpg', 'jpeg', 'png', 'webp', 'svg'];
const MIB = 1024 * 1024;
const [MAX_FILE_BYTES, MAX_IMAGE_BYTES] = [25 * MIB, 10 * MIB];

/** For `accept` of a file field. */
export const ACCEPTED = [...FILE_EXTENSIONS, ...IMAGE_EXTENSIONS].map((extension) => `.${extension}`).join(',');

const EXTENSION_OF_TYPE: { readonly [type: string]: string } = {
  'image/png': 'png',
  'image/jpeg': 'jpg',
  'image/webp': 'webp',
  'image/svg+xml': 'svg',
};

export type FileCheck =
  | { readonly kind: 'file' | 'image'; readonly name: string }
  | { readonly kind: 'refused'; readonly reason: 'type' | 'empty' | 'file-size' | 'image-size' };

/** What a file is sent as. Pasted images may lack an extension. */
export function checkFile({ name, type, size }: Pick<File, 'name' | 'type' | 'size'>): FileCheck {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? '';
  const known = IMAGE_EXTENSIONS.includes(extension) || FILE_EXTENSIONS.includes(extension);
  const actual = known ? extension : EXTENSION_OF_TYPE[type];
  if (actual === undefined) return { kind: 'refused', reason: 'type' };
  if (size === 0) return { kind: 'refused', reason: 'empty' };
  const kind = IMAGE_EXTENSIONS.includes(actual) ? 'image' : 'file';
  if (size > (kind === 'image' ? MAX_IMAGE_BYTES : MAX_FILE_BYTES)) return { kind: 'refused', reason: `${kind}-size` };
  return { kind, name: known ? name : `${name || 'image'}.${actual}` };
}

/** `1.2 MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const [size, unit] = bytes < MIB ? [bytes / 1024, 'KB'] : [bytes / MIB, 'MB'];
  return `${size < 10 ? Math.round(size * 10) / 10 : Math.round(size)} ${unit}`;
}
