/** A file or image: its uploader and the messages it is attached to. Stream `chat.file-<id>`. */

import { type Decider, type Evolve, type Rejection, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import type { Content } from './events/files.js';
import { parentOf } from './events/messages.js';
import { addCount, type Counts, countOf, noCounts } from './limits.js';
import { atMost } from './rejections.js';

/** Time an unattached file is kept: its uploader may still be writing the message. */
export const UNATTACHED_MS = 24 * 3_600_000;
/**
 * Messages a file may be attached to by its uploader, and separately by all others, who could otherwise use up the
 * limit. An access check looks at each of them.
 */
export const MAX_HOLDERS = 100;
/** Attachments per user and file, including detached ones: all events are read with the file. */
export const MAX_ATTACHMENTS = 1000;

/** A message or reply that has the file. */
export interface Holder {
  readonly messageId: string;
  readonly channelId: string;
  readonly by: string;
  readonly attachedAt: number;
}

export interface FileState {
  readonly status: 'none' | 'active' | 'discarded';
  readonly name: string;
  readonly uploadedBy: string;
  readonly uploadedAt: number;
  /** Set for images. */
  readonly channelId: string | null;
  readonly content: Content;
  readonly thumbnail: Content | null;
  /** Sealed under the file's own key; empty once the uploader is erased. */
  readonly sealedName: string;
  readonly holders: readonly Holder[];
  readonly attachCounts: Counts;
  /** When it was last attached or detached. */
  readonly touchedAt: number;
}

export type FileCommand =
  | {
      type: 'UploadFile';
      fileId: string;
      name: string;
      by: string;
      channelId: string | null;
      content: Content;
      thumbnail: Content | null;
      sealedName: string;
      now: number;
    }
  | {
      type: 'AttachFile';
      fileId: string;
      by: string;
      messageId: string;
      channelId: string;
      now: number;
    }
  /** Removed by an edit, which can be undone within a day. */
  | { type: 'DetachFile'; fileId: string; messageId: string; now: number }
  | { type: 'ReleaseFile'; fileId: string; scope: ReleaseScope; now: number }
  /** Sent a day later; `missing` lists holders that do not exist or no longer contain the file. */
  | { type: 'ReviewFile'; fileId: string; missing: readonly string[]; now: number };

/** A message with its thread, or a channel with its messages and images. */
export type ReleaseScope = { readonly messageId: string } | { readonly channelId: string };

type Command<Type extends FileCommand['type']> = Extract<FileCommand, { type: Type }>;

export type FileEvent = ChatEvent<'FileUploaded' | 'FileAttached' | 'FileKept' | 'FileDetached' | 'FileDiscarded'>;

const nothing: Content = { contentType: '', size: 0, sha256: '', stored: '', sealedKey: '' };

const initialState: FileState = {
  status: 'none',
  name: '',
  uploadedBy: '',
  uploadedAt: 0,
  channelId: null,
  content: nothing,
  thumbnail: null,
  sealedName: '',
  holders: [],
  attachCounts: noCounts,
  touchedAt: 0,
};

export const fileNotFound = rejection('chat/file-not-found', 'not-found', 'File not found');
const tooManyHolders = atMost(
  'chat/file-on-too-many-messages',
  `${MAX_HOLDERS} messages of the uploader and ${MAX_HOLDERS} of others per file; upload it again`,
);
const attachedTooOften = atMost(
  'chat/file-hung-too-often',
  `${MAX_ATTACHMENTS} attachments of one file per user; upload it again`,
);

type Outcome = readonly FileEvent[] | Rejection;

function decide(command: FileCommand, state: FileState): Outcome {
  if (command.type === 'UploadFile') return upload(command, state);
  if (command.type === 'AttachFile') return attach(command, state);
  if (state.status !== 'active') return [];
  switch (command.type) {
    case 'DetachFile':
      return detachEvents(command, ({ messageId }) => messageId === command.messageId, state);
    case 'ReleaseFile':
      return release(command, state);
    case 'ReviewFile':
      return review(command, state);
  }
}

function upload(command: Command<'UploadFile'>, { status }: FileState): Outcome {
  if (status !== 'none') return { rejected: 'chat/file-exists', kind: 'conflict' };
  const { fileId, name, by, channelId, content, thumbnail, sealedName, now } = command;
  const uploaded = { fileId, name, uploadedBy: by, uploadedAt: now };
  const secret = { sealedName };
  return [{ type: 'FileUploaded', data: { ...uploaded, channelId, content, thumbnail, secret } }];
}

function attach(command: Command<'AttachFile'>, state: FileState): Outcome {
  const { status, uploadedBy, holders, attachCounts } = state;
  if (status !== 'active') return fileNotFound;
  const { fileId, messageId, channelId, by, now } = command;
  if (holders.some((each) => each.messageId === messageId)) return [];
  const isOwn = by === uploadedBy;
  if (holders.filter((each) => (each.by === uploadedBy) === isOwn).length >= MAX_HOLDERS) return tooManyHolders;
  if (countOf(attachCounts, by) >= MAX_ATTACHMENTS) return attachedTooOften;
  return [{ type: 'FileAttached', data: { fileId, messageId, channelId, by, attachedAt: now } }];
}

const detachEvents = (
  { fileId, now }: { readonly fileId: string; readonly now: number },
  matches: (holder: Holder) => boolean,
  { holders }: FileState,
): readonly FileEvent[] =>
  holders.filter(matches).map(({ messageId }) => ({
    type: 'FileDetached',
    data: { fileId, messageId, detachedAt: now },
  }));

const discardEvent = (
  { fileId, now }: { readonly fileId: string; readonly now: number },
  reason: 'unattached' | 'deleted',
): FileEvent => ({ type: 'FileDiscarded', data: { fileId, reason, discardedAt: now } });

function release(command: Command<'ReleaseFile'>, state: FileState): Outcome {
  const { scope } = command;
  if ('channelId' in scope && state.channelId === scope.channelId) return [discardEvent(command, 'deleted')];
  const matches = ({ messageId, channelId }: Holder) =>
    'channelId' in scope
      ? channelId === scope.channelId
      : messageId === scope.messageId || parentOf(messageId) === scope.messageId;
  const detachments = detachEvents(command, matches, state);
  if (detachments.length === 0) return [];
  return detachments.length === state.holders.length ? [...detachments, discardEvent(command, 'deleted')] : detachments;
}

function review(command: Command<'ReviewFile'>, state: FileState): Outcome {
  const { fileId, missing, now } = command;
  // The file was attached or detached since; it is reviewed a day after that.
  if (now - state.touchedAt < UNATTACHED_MS) return [];
  const detachments = detachEvents(command, ({ messageId }) => missing.includes(messageId), state);
  if (detachments.length === state.holders.length) return [...detachments, discardEvent(command, 'unattached')];
  return [...detachments, { type: 'FileKept', data: { fileId, keptAt: now } }];
}

const evolve: Evolve<FileState, FileEvent> = {
  FileUploaded: (_, { name, uploadedBy, uploadedAt, channelId, content, thumbnail, secret }) => ({
    status: 'active',
    name,
    uploadedBy,
    uploadedAt,
    channelId,
    content,
    thumbnail,
    sealedName: secret.sealedName,
    holders: [],
    attachCounts: noCounts,
    touchedAt: uploadedAt,
  }),
  FileAttached: (state, { messageId, channelId, by, attachedAt }) => ({
    ...state,
    holders: [...state.holders, { messageId, channelId, by, attachedAt }],
    attachCounts: addCount(state.attachCounts, by),
    touchedAt: Math.max(state.touchedAt, attachedAt),
  }),
  FileKept: (state) => state,
  FileDetached: (state, { messageId, detachedAt }) => ({
    ...state,
    holders: state.holders.filter((each) => each.messageId !== messageId),
    touchedAt: Math.max(state.touchedAt, detachedAt),
  }),
  FileDiscarded: (state) => ({ ...state, status: 'discarded', holders: [] }),
};

export const file: Decider<FileState, FileCommand, FileEvent> = { initialState, decide, evolve };
