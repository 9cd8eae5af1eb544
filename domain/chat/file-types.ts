/** Allowed types and sizes of files and images. */
import { mediaTypes } from '../shared/index.js';

const FILE_BYTES = 25 * 1024 * 1024;
const IMAGE_BYTES = 10 * 1024 * 1024;
/** Decoded bytes of a file, and of an image of a channel or conversation. */
export const MAX_BYTES = { file: FILE_BYTES, image: IMAGE_BYTES } as const;

export type Purpose = keyof typeof MAX_BYTES;

const isImage = (contentType: string): boolean => contentType.startsWith('image/');

/** Content type of an extension; undefined when not allowed for this purpose. */
export function typeOf(extension: string, purpose: Purpose): string | undefined {
  const { contentType } = mediaTypes.get(extension) ?? {};
  return contentType !== undefined && isImage(contentType) === (purpose === 'image') ? contentType : undefined;
}

/** Whether the content matches the extension; `head` is its first `HEAD_BYTES`. */
export const fitsType = (extension: string, head: Uint8Array): boolean =>
  mediaTypes.get(extension)?.matches(head) ?? false;

/** Image type by signature; used for thumbnails, which have no name. */
export const imageTypeOf = (head: Uint8Array): string | undefined =>
  [...mediaTypes.values()].find(({ contentType, matches }) => isImage(contentType) && matches(head))?.contentType;
