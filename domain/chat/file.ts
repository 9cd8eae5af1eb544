/** A file or image: its upload and the messages it was attached to. Stream `chat.file-<id>`. */

import { type Decider, decideByType, type Evolve, rejection } from '../shared/index.js';
import type { ChatEvent } from './catalog.js';
import { atMost } from './limits.js';

/** Milliseconds an unattached file is kept: its uploader may still be writing the message. */
export const UNATTACHED_MS = 24 * 3_600_000;
/**
 * Messages a file may be attached to by its uploader, and separately by all others, who could otherwise use up the
 * limit. An access check may look at each of them.
 */
export const MAX_ATTACHMENTS = 100;

export type Upload = ChatEvent<'FileUploaded'>['data'];
/** A message or reply that has the file, or had it before an edit. */
export type Holder = ChatEvent<'FileAttached'>['data'];

export interface FileState {
  /** Undefined before the upload. */
  readonly upload?: Upload;
  readonly isDiscarded: boolean;
  readonly holders: readonly Holder[];
  /** When to review whether the file is used, Unix ms; undefined once it was. */
  readonly dueAt?: number | undefined;
}

export type FileCommand =
  | { type: 'UploadFile'; upload: Upload }
  | { type: 'AttachFile'; fileId: string; by: string; messageId: string; channelId: string; now: number }
  /**
   * Sent a day after the file was uploaded or attached, and when a message or channel with it is deleted. `missing`: ids
   * of its messages, and of the channel of an image, that were deleted or never posted.
   */
  | { type: 'ReviewFile'; fileId: string; missing: readonly string[]; now: number };

export type FileEvent = ChatEvent<'FileUploaded' | 'FileAttached' | 'FileKept' | 'FileDiscarded'>;

export const fileNotFound = rejection('chat/file-not-found', 'not-found', 'File not found');
const attachedTooOften = atMost(
  'chat/file-on-too-many-messages',
  `${MAX_ATTACHMENTS} messages of the uploader and ${MAX_ATTACHMENTS} of others per file; upload it again`,
);

/** The upload of a file that exists. */
export const uploadOf = ({ upload, isDiscarded }: FileState): Upload | undefined => (isDiscarded ? undefined : upload);

const decide = decideByType<FileState, FileCommand, FileEvent>({
  UploadFile: ({ upload }, state) =>
    state.upload ? { rejected: 'chat/file-exists', kind: 'conflict' } : [{ type: 'FileUploaded', data: upload }],
  AttachFile({ fileId, messageId, channelId, by, now }, state) {
    const upload = uploadOf(state);
    if (!upload) return fileNotFound;
    if (state.holders.some((each) => each.messageId === messageId)) return [];
    const isUploader = (userId: string) => userId === upload.uploadedBy;
    const alike = state.holders.filter((each) => isUploader(each.by) === isUploader(by));
    if (alike.length >= MAX_ATTACHMENTS) return attachedTooOften;
    return [{ type: 'FileAttached', data: { fileId, messageId, channelId, by, attachedAt: now } }];
  },
  ReviewFile({ fileId, missing, now }, state) {
    const upload = uploadOf(state);
    if (!upload) return [];
    const { holders, dueAt } = state;
    const isDue = dueAt !== undefined && now >= dueAt;
    if (holders.some(({ messageId }) => !missing.includes(messageId)))
      return isDue ? [{ type: 'FileKept', data: { fileId, keptAt: now } }] : [];
    const isInDeletedChannel = upload.channelId !== null && missing.includes(upload.channelId);
    if (holders.length === 0 && !isDue && !isInDeletedChannel) return [];
    return [{ type: 'FileDiscarded', data: { fileId, discardedAt: now } }];
  },
});

const evolve: Evolve<FileState, FileEvent> = {
  FileUploaded: (_, upload) => ({ ...initialState, upload, dueAt: upload.uploadedAt + UNATTACHED_MS }),
  FileAttached: (state, holder) => ({
    ...state,
    holders: [...state.holders, holder],
    dueAt: holder.attachedAt + UNATTACHED_MS,
  }),
  FileKept: (state) => ({ ...state, dueAt: undefined }),
  FileDiscarded: (state) => ({ ...state, isDiscarded: true, holders: [] }),
};

const initialState: FileState = { isDiscarded: false, holders: [] };

export const file: Decider<FileState, FileCommand, FileEvent> = { initialState, decide, evolve };
