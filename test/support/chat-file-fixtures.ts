/** Files for specs: their commands, and bytes that begin as those of each type do. */
import type { Content } from '../../domain/chat/events/files.js';
import type { FileCommand, ReleaseScope } from '../../domain/chat/file.js';
import { ADA, CHANNEL, NOON } from './chat-message-fixtures.js';

export const FILE = 'file'.padEnd(22, '0');
export const PLAN = `${NOON}-${FILE}.pdf`;

const content: Content = {
  contentType: 'application/pdf',
  size: 5,
  sha256: '0f',
  stored: 'bytes',
  sealedKey: 'key',
};

type Of<Type extends FileCommand['type']> = Extract<FileCommand, { type: Type }>;

export const upload = (more: Partial<Omit<Of<'UploadFile'>, 'type'>> = {}): FileCommand => ({
  type: 'UploadFile',
  fileId: FILE,
  name: PLAN,
  by: ADA,
  channelId: null,
  content,
  thumbnail: null,
  sealedName: 'sealed',
  now: NOON,
  ...more,
});

export const attach = (holderId: string, more: Partial<Omit<Of<'AttachFile'>, 'type'>> = {}): FileCommand => ({
  type: 'AttachFile',
  fileId: FILE,
  by: ADA,
  holderId,
  messageId: holderId.split('.')[0]!,
  channelId: CHANNEL,
  now: NOON + 1,
  ...more,
});

export const detach = (holderId: string, now = NOON + 2): FileCommand => ({
  type: 'DetachFile',
  fileId: FILE,
  holderId,
  now,
});

export const release = (scope: ReleaseScope, now = NOON + 3): FileCommand => ({
  type: 'ReleaseFile',
  fileId: FILE,
  scope,
  now,
});

export const review = (missing: readonly string[], now: number): FileCommand => ({
  type: 'ReviewFile',
  fileId: FILE,
  missing,
  now,
});

const begun = (hex: string, rest = 'rest') => Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from(rest)]);

/** What the shortest file of each type begins with. */
export const SAMPLES: { readonly [extension: string]: Buffer } = {
  pdf: Buffer.from('%PDF-1.7\n'),
  txt: Buffer.from('Hello'),
  md: Buffer.from('# Hello'),
  markdown: Buffer.from('# Hello'),
  csv: Buffer.from('a,b\n1,2\n'),
  json: Buffer.from('{"a":1}'),
  zip: begun('504b0304'),
  doc: begun('d0cf11e0a1b11ae1'),
  docx: begun('504b0304'),
  xls: begun('d0cf11e0a1b11ae1'),
  xlsx: begun('504b0304'),
  ppt: begun('d0cf11e0a1b11ae1'),
  pptx: begun('504b0304'),
  jpg: begun('ffd8ffe000104a464946'),
  jpeg: begun('ffd8ffdb'),
  png: begun('89504e470d0a1a0a'),
  webp: begun('524946462400000057454250', 'VP8 '),
  svg: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
};
