/** A file or an image: who uploaded it, and what it hangs on. Stream `chat.file-<id>`. */
import { type Decider, type Evolve, PersistentMap, type Rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import type { Content } from './events/files.js';

/** What hangs on nothing is kept for so long: its uploader may still be writing. */
export const UNATTACHED_MS = 24 * 3_600_000;
/**
 * Messages that its uploader hangs a file on, and as many for all others together, who could leave them none: whoever wants
 * to know whether they may read it looks at each.
 */
export const MOST_HOLDERS = 100;
/** Of them so many ever by one person, those counted too that it hangs on no more: all that was is read with the file. */
export const MOST_HUNG = 1000;

/** A message, or a reply to it, as one that holds the file. */
export interface Holder {
  readonly holderId: string;
  readonly messageId: string;
  readonly channelId: string;
  /** Who hung it there. */
  readonly by: string;
  readonly attachedAt: number;
}

export interface FileState {
  readonly status: 'none' | 'there' | 'discarded';
  readonly name: string;
  readonly uploadedBy: string;
  readonly uploadedAt: number;
  /** Of an image. */
  readonly channelId: string | null;
  readonly content: Content;
  readonly thumbnail: Content | null;
  /** Under the file's own key; empty once its uploader is erased. */
  readonly sealedName: string;
  /** In the order in which they came. */
  readonly holders: readonly Holder[];
  /** How often each user ever hung it on something. */
  readonly hung: PersistentMap<number>;
  /** When it was last seen to come or go. */
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
      holderId: string;
      messageId: string;
      channelId: string;
      now: number;
    }
  /** Edited away from what held it: there is a day to take it back. */
  | { type: 'DetachFile'; fileId: string; holderId: string; now: number }
  /** All that `held` says of it is deleted. */
  | { type: 'ReleaseFile'; fileId: string; held: Held; now: number }
  /** A day after: `gone` are those who hold it that were never said, or say so no more. */
  | { type: 'ReviewFile'; fileId: string; gone: readonly string[]; now: number };

/** By a reply, by a message with its thread, or by whatever is said in a channel, which is its own image's place too. */
export type Held = { readonly holderId: string } | { readonly messageId: string } | { readonly channelId: string };

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
  hung: PersistentMap.empty(),
  touchedAt: 0,
};

export const fileNotFound: Rejection = {
  rejected: 'chat/file-not-found',
  kind: 'not-found',
  detail: 'File not found',
};
const held: Rejection = {
  rejected: 'chat/file-on-too-many-messages',
  kind: 'invalid',
  detail: `A file hangs on ${MOST_HOLDERS} messages of its uploader's, and on ${MOST_HOLDERS} of all others, upload it once more`,
};
const hungEnough: Rejection = {
  rejected: 'chat/file-hung-too-often',
  kind: 'invalid',
  detail: `One person hangs a file on messages ${MOST_HUNG} times, upload it once more`,
};

type Outcome = readonly FileEvent[] | Rejection;

function decide(command: FileCommand, state: FileState): Outcome {
  if (command.type === 'UploadFile') return upload(command, state);
  if (command.type === 'AttachFile') return attach(command, state);
  if (state.status !== 'there') return [];
  switch (command.type) {
    case 'DetachFile':
      return detached(command, ({ holderId }) => holderId === command.holderId, state);
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
  const { status, uploadedBy, holders, hung } = state;
  if (status !== 'there') return fileNotFound;
  const { fileId, holderId, messageId, channelId, by, now } = command;
  if (holders.some((each) => each.holderId === holderId)) return [];
  const isOwn = by === uploadedBy;
  if (holders.filter((each) => (each.by === uploadedBy) === isOwn).length >= MOST_HOLDERS) return held;
  if ((hung.get(by) ?? 0) >= MOST_HUNG) return hungEnough;
  return [{ type: 'FileAttached', data: { fileId, messageId, holderId, channelId, by, attachedAt: now } }];
}

const detached = (
  { fileId, now }: { readonly fileId: string; readonly now: number },
  isGone: (holder: Holder) => boolean,
  { holders }: FileState,
): readonly FileEvent[] =>
  holders.filter(isGone).map(({ messageId, holderId }) => ({
    type: 'FileDetached',
    data: { fileId, messageId, holderId, detachedAt: now },
  }));

const discarded = (
  { fileId, now }: { readonly fileId: string; readonly now: number },
  reason: 'unattached' | 'deleted',
): FileEvent => ({ type: 'FileDiscarded', data: { fileId, reason, discardedAt: now } });

function release(command: Command<'ReleaseFile'>, state: FileState): Outcome {
  const { held } = command;
  if ('channelId' in held && state.channelId === held.channelId) return [discarded(command, 'deleted')];
  const isGone = (holder: Holder) => Object.entries(held).every(([by, id]) => holder[by as keyof Holder] === id);
  const gone = detached(command, isGone, state);
  if (gone.length === 0) return [];
  return gone.length === state.holders.length ? [...gone, discarded(command, 'deleted')] : gone;
}

function review(command: Command<'ReviewFile'>, state: FileState): Outcome {
  const { fileId, gone, now } = command;
  // Something has come or gone since: it is looked at a day after that.
  if (now - state.touchedAt < UNATTACHED_MS) return [];
  const lost = detached(command, ({ holderId }) => gone.includes(holderId), state);
  if (lost.length === state.holders.length) return [...lost, discarded(command, 'unattached')];
  return [...lost, { type: 'FileKept', data: { fileId, keptAt: now } }];
}

const evolve: Evolve<FileState, FileEvent> = {
  FileUploaded: (_, { name, uploadedBy, uploadedAt, channelId, content, thumbnail, secret }) => ({
    status: 'there',
    name,
    uploadedBy,
    uploadedAt,
    channelId,
    content,
    thumbnail,
    sealedName: secret.sealedName,
    holders: [],
    hung: PersistentMap.empty(),
    touchedAt: uploadedAt,
  }),
  FileAttached: (state, { holderId, messageId, channelId, by, attachedAt }) => ({
    ...state,
    holders: [...state.holders, { holderId, messageId, channelId, by, attachedAt }],
    hung: state.hung.set(by, (state.hung.get(by) ?? 0) + 1),
    touchedAt: Math.max(state.touchedAt, attachedAt),
  }),
  FileKept: (state) => state,
  FileDetached: (state, { holderId, detachedAt }) => ({
    ...state,
    holders: state.holders.filter((each) => each.holderId !== holderId),
    touchedAt: Math.max(state.touchedAt, detachedAt),
  }),
  FileDiscarded: (state) => ({ ...state, status: 'discarded', holders: [] }),
};

export const file: Decider<FileState, FileCommand, FileEvent> = { initialState, decide, evolve };
