/** What is inside an encrypted message: a JSON header and bytes. Checked when read, as any participant may send anything. */
import { type Bytes, fromUtf8, type KeyPackage, utf8 } from './crypto/protocol.js';

export const MAX_NAME = 48;
export const MAX_TITLE = 80;
/** More than one message holds. */
const MAX_TEXT = 32_768;
export const MAX_PARTS = 16;

export interface FileHead {
  readonly name: string;
  readonly type: string;
  readonly size: number;
  /** Pixels, of images. */
  readonly width?: number;
  readonly height?: number;
}

export type Content =
  /** Introduces the sender under a room key: name, agreement key, and a digest of the invite they came by. */
  | { readonly kind: 'hello'; readonly name: string; readonly agreementKey: string; readonly invite?: string }
  | { readonly kind: 'title'; readonly title: string }
  | { readonly kind: 'text'; readonly text: string; readonly replyTo?: string }
  | { readonly kind: 'rotation'; readonly keys: KeyPackage }
  | { readonly kind: 'left' }
  | {
      readonly kind: 'part';
      readonly fileId: string;
      readonly part: number;
      readonly parts: number;
      /** With the first part. */
      readonly file?: FileHead;
      readonly bytes: Bytes;
    };

const LENGTH_BYTES = 4;

export function encodeContent(content: Content): Bytes {
  const { bytes, ...header } = content.kind === 'part' ? content : { ...content, bytes: undefined };
  const head = utf8(JSON.stringify(header));
  const encoded = new Uint8Array(LENGTH_BYTES + head.length + (bytes?.length ?? 0));
  new DataView(encoded.buffer).setUint32(0, head.length);
  encoded.set(head, LENGTH_BYTES);
  if (bytes) encoded.set(bytes, LENGTH_BYTES + head.length);
  return encoded;
}

/** Undefined for what this version of the page does not understand. */
export function decodeContent(encoded: Bytes): Content | undefined {
  try {
    const headBytes = new DataView(encoded.buffer, encoded.byteOffset, encoded.length).getUint32(0);
    const header: unknown = JSON.parse(fromUtf8(encoded.subarray(LENGTH_BYTES, LENGTH_BYTES + headBytes)));
    return checked(header as Fields, encoded.slice(LENGTH_BYTES + headBytes));
  } catch {
    return undefined;
  }
}

type Fields = { readonly [name: string]: unknown };

const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= most;
const isCount = (value: unknown, most: number): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most;
const isOptional = <Value>(value: unknown, is: (value: unknown) => value is Value): value is Value | undefined =>
  value === undefined || is(value);
const isToken = (value: unknown): value is string => isText(value, 256) && /^[\w-]+$/.test(value);
const isKnown = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function checked(head: Fields, bytes: Bytes): Content | undefined {
  switch (head.kind) {
    case 'hello': {
      const { name, agreementKey, invite } = head;
      const isValid = isText(name, MAX_NAME) && isToken(agreementKey) && isOptional(invite, isToken);
      if (!isValid) return undefined;
      return { kind: 'hello', name: tidy(name, MAX_NAME) || '?', agreementKey, ...(invite && { invite }) };
    }
    case 'title':
      return isText(head.title, MAX_TITLE) ? { kind: 'title', title: tidy(head.title, MAX_TITLE) } : undefined;
    case 'text': {
      const { text, replyTo } = head;
      const isValid = isText(text, MAX_TEXT) && isOptional(replyTo, isToken);
      return isValid ? { kind: 'text', text, ...(replyTo && { replyTo }) } : undefined;
    }
    case 'rotation':
      return isKeyPackage(head.keys) ? { kind: 'rotation', keys: head.keys } : undefined;
    case 'left':
      return { kind: 'left' };
    case 'part':
      return checkedPart(head, bytes);
    default:
      return undefined;
  }
}

function checkedPart({ fileId, part, parts, file }: Fields, bytes: Bytes): Content | undefined {
  if (!isToken(fileId) || !isCount(parts, MAX_PARTS) || !isCount(part, parts - 1)) return undefined;
  const head = part === 0 && isKnown(file) ? checkedFile(file) : undefined;
  if (part === 0 && !head) return undefined;
  return { kind: 'part', fileId, part, parts, bytes, ...(head && { file: head }) };
}

function checkedFile({ name, type, size, width, height }: Fields): FileHead | undefined {
  const isPixels = (value: unknown) => isCount(value, 20_000);
  if (!isText(name, 255) || typeof type !== 'string' || !isCount(size, 2 ** 30)) return undefined;
  const measures = isPixels(width) && isPixels(height) ? { width: width as number, height: height as number } : {};
  return {
    name: tidy(name, 255) || '?',
    type: /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream',
    size,
    ...measures,
  };
}

function isKeyPackage(value: unknown): value is KeyPackage {
  if (!isKnown(value) || !isCount(value.version, Number.MAX_SAFE_INTEGER) || !isToken(value.ephemeral)) return false;
  if (!isKnown(value.keys)) return false;
  return Object.values(value.keys).every((key) => isKnown(key) && isToken(key.nonce) && isToken(key.ciphertext));
}

/** Control characters, also those that reverse the direction of a text and so disguise it. */
const CONTROLS = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]+/gu;

/** A name or title: without control characters, white space collapsed, cut to whole characters. */
export const tidy = (text: string, most: number): string => {
  const collapsed = text.replace(CONTROLS, ' ').replace(/\s+/gu, ' ').trim();
  let cut = '';
  for (const character of collapsed) {
    if (cut.length + character.length > most) break;
    cut += character;
  }
  return cut;
};
