/** Files as messages: images are made smaller and lose their metadata, then everything is cut into parts. */
import { type Content, encodeContent, type FileHead, MAX_PARTS } from './content.js';
import { MAX_CIPHERTEXT } from './contract.js';
import type { SharedFile } from './conversation.js';
import { type Bytes, maxContent, randomBytes, toBase64url } from './crypto/protocol.js';

const TAG_BYTES = 16;
/** Largest content of one message. */
const MAX_CONTENT_BYTES = maxContent(Math.floor((MAX_CIPHERTEXT * 3) / 4) - TAG_BYTES);
const HEAD_BYTES = 1000;
const PART_BYTES = MAX_CONTENT_BYTES - HEAD_BYTES;
export const MAX_FILE_BYTES = MAX_PARTS * PART_BYTES;
const MAX_FILE_NAME = 120;

export const fits = (content: Content): boolean => encodeContent(content).length <= MAX_CONTENT_BYTES;

/** Types that browsers show as images, without scripts. */
export const isImage = (type: string): boolean => /^image\/(?:png|jpeg|webp|gif|avif)$/.test(type);

export class FileTooLarge extends Error {}

/** The messages of a file. Rejects with `FileTooLarge`. */
export async function partsOf(file: File): Promise<readonly Content[]> {
  const { blob, ...measures } = isImage(file.type) ? await reduced(file) : { blob: file as Blob };
  if (blob.size > MAX_FILE_BYTES) throw new FileTooLarge();
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const fileId = toBase64url(randomBytes(12));
  const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
  const name = [...file.name].slice(-MAX_FILE_NAME).join('') || 'file';
  const head: FileHead = { name: renamed(name, blob.type), type: blob.type, size: bytes.length, ...measures };
  return Array.from({ length: parts }, (_, part) => ({
    kind: 'part',
    fileId,
    part,
    parts,
    bytes: bytes.slice(part * PART_BYTES, (part + 1) * PART_BYTES),
    ...(part === 0 && { file: head }),
  }));
}

const EXTENSIONS: { readonly [type: string]: string } = { 'image/webp': 'webp', 'image/jpeg': 'jpg' };

function renamed(name: string, type: string): string {
  const extension = EXTENSIONS[type];
  return extension && !name.toLowerCase().match(/\.(jpe?g|webp)$/)
    ? `${name.replace(/\.\w+$/, '')}.${extension}`
    : name;
}

interface Reduced {
  readonly blob: Blob;
  readonly width: number;
  readonly height: number;
}

const ATTEMPTS = [
  [2048, 0.82],
  [1600, 0.78],
  [1280, 0.72],
  [1024, 0.66],
  [800, 0.6],
  [512, 0.5],
] as const;

/** Drawn again, so that positions and cameras in its metadata are gone. Animations that are small enough stay as they are. */
async function reduced(file: File): Promise<Reduced | { readonly blob: Blob }> {
  const bitmap = await createImageBitmap(file).catch(() => undefined);
  if (!bitmap) return { blob: file };
  if (file.type === 'image/gif' && file.size <= MAX_FILE_BYTES)
    return { blob: file, width: bitmap.width, height: bitmap.height };
  let best: Reduced | undefined;
  for (const [longest, quality] of ATTEMPTS) {
    const scale = Math.min(1, longest / Math.max(bitmap.width, bitmap.height));
    const [width, height] = [
      Math.max(1, Math.round(bitmap.width * scale)),
      Math.max(1, Math.round(bitmap.height * scale)),
    ];
    const blob = await drawn(bitmap, width, height, quality);
    if (blob) best = { blob, width, height };
    if (blob && blob.size <= MAX_FILE_BYTES) break;
  }
  bitmap.close();
  return best ?? { blob: file };
}

async function drawn(bitmap: ImageBitmap, width: number, height: number, quality: number): Promise<Blob | null> {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.drawImage(bitmap, 0, 0, width, height);
  const encode = (type: string) => new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type, quality));
  const webp = await encode('image/webp');
  return webp?.type === 'image/webp' ? webp : encode('image/jpeg');
}

/** Undefined until all parts have arrived. */
export function contentOf({ head, parts }: SharedFile): Blob | undefined {
  if (parts.some((part) => part === undefined)) return undefined;
  return new Blob(parts as readonly Bytes[] as Bytes[], {
    type: isImage(head.type) ? head.type : 'application/octet-stream',
  });
}
