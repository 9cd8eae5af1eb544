/** Uploading files and images, and who may read them again: by the log's state, never by a row. */
import { type Content, fileSubject } from '../../../domain/chat/events/files.js';
import { type FileEvent, type FileState, fileNotFound, type Holder } from '../../../domain/chat/file.js';
import { extensionOf, fileIdOf, storedName, tidyFileName } from '../../../domain/chat/file-names.js';
import { fitsType, imageTypeOf, type Purpose, typeOf } from '../../../domain/chat/file-types.js';
import { replyWith } from '../../../domain/chat/thread.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { AggregateStore, HandleCommand } from '../../command/index.js';
import { type IncomingBlob, keyOf, keyText, type SealedFiles } from '../../files/encrypted-blobs.js';
import type { Clock, CommandContext, Derivation, FileStore, Position, Vault } from '../../ports/index.js';
import { fileAggregate } from '../aggregates.js';
import type { Visibility } from '../messages/visibility.js';
import type { Authentication, Caller } from '../sign-in/authenticate.js';
import type { CommandResult } from '../sign-in/sessions.js';

export interface FilePorts {
  readonly handle: HandleCommand;
  readonly streams: AggregateStore;
  readonly vault: Pick<Vault, 'create' | 'seal' | 'open'>;
  readonly derivation: Derivation;
  readonly clock: Clock;
  readonly admission: Authentication;
  readonly places: Visibility;
  readonly sealedFiles: SealedFiles;
  readonly fileStore: FileStore;
}

/** What somebody uploads; an image into the channel or conversation that it is for. */
export interface Upload {
  readonly filename: string;
  readonly channelId: string | null;
  readonly content: IncomingBlob | undefined;
  readonly thumbnail?: IncomingBlob | undefined;
}

export interface Uploaded {
  /** As it is stored. */
  readonly filename: string;
  readonly originalName: string;
  readonly contentType: string;
  readonly size: number;
}

/** What somebody may read. */
export interface Download {
  readonly contentType: string;
  /** In bytes. */
  readonly size: number;
  readonly sha256: string;
  readonly originalName: string;
  /** How far the log has been seen by which they may. */
  readonly position: Position;
  read(from: number, to: number): AsyncIterable<Uint8Array>;
}

const invalid = (rejected: string, detail: string): Rejection => ({
  rejected: `chat/${rejected}`,
  kind: 'invalid',
  detail,
});
const badName = invalid('bad-file-name', 'filename must be a name of at most 255 characters');
const unknownType = (purpose: Purpose) =>
  invalid(
    'unknown-file-type',
    purpose === 'image'
      ? 'filename must end in jpg, jpeg, png, webp or svg'
      : 'filename must end in pdf, txt, md, csv, json, zip, doc, docx, xls, xlsx, ppt or pptx',
  );
const emptyFile = invalid('empty-file', 'The file is empty');
const otherType = invalid('other-file-type', 'The content is not what the end of filename says');
const badThumbnail = invalid('bad-thumbnail', 'thumbnail must be an image');

export type Files = ReturnType<typeof createFiles>;

export function createFiles(ports: FilePorts) {
  const { handle, streams, vault, derivation, clock, admission, places, sealedFiles, fileStore } = ports;

  async function upload(
    { userId }: Caller,
    { filename, channelId, content, thumbnail }: Upload,
    context: CommandContext,
  ): Promise<CommandResult<Uploaded> | Rejection> {
    const checked = check(filename, channelId === null ? 'file' : 'image', content, thumbnail);
    if ('rejected' in checked) return checked;
    const { originalName, extension, received } = checked;
    const fileId = derivation.id('chat.file', context.commandId);
    const subject = fileSubject({ fileId });
    await vault.create(subject);
    // Where the file was discarded since, its stream tells so.
    const seal = async (secret: object) => (await vault.seal(subject, secret)) ?? ERASED;
    const sealed = async ({ contentType, from }: Part): Promise<Content> => {
      const { size, sha256, stored, key } = from;
      return { contentType, size, sha256, stored, sealedKey: await seal({ key: keyText(key) }) };
    };
    const [main, thumb] = received;
    const now = clock.now();
    const command = {
      type: 'UploadFile' as const,
      fileId,
      name: storedName(now, fileId, extension),
      by: userId,
      channelId,
      content: await sealed(main),
      thumbnail: thumb ? await sealed(thumb) : null,
      sealedName: await seal({ name: originalName }),
      now,
    };
    const commit = async () => {
      for (const { from } of received) await from.keep(fileId);
      // From here on the log may know of it, whatever it answers.
      for (const { from } of received) from.release();
      return undefined;
    };
    const outcome = await handle(fileAggregate, subject, command, context, commit);
    if (isRejection(outcome)) {
      await removeBlobs(received);
      return outcome;
    }
    const [event] = outcome.events as readonly Extract<FileEvent, { type: 'FileUploaded' }>[];
    if (!event) throw new Error('a file was uploaded without an event');
    // Where it was uploaded before, the log has that one's bytes.
    if (event.data.content.stored === main.from.stored) await settle(received);
    else await removeBlobs(received);
    const { name, content: stored } = event.data;
    const body = { filename: name, originalName, contentType: stored.contentType, size: stored.size };
    return { body, position: outcome.position };
  }

  async function settle(parts: readonly Part[]) {
    for (const { from } of parts) await fileStore.settle(from.stored);
  }

  async function removeBlobs(parts: readonly Part[]) {
    for (const { from } of parts) await fileStore.remove(from.stored);
    await settle(parts);
  }

  /** A file by its stored name, for whoever may read it: its uploader, and who sees a message that holds it. */
  async function file(by: Caller, name: string, seen?: Position): Promise<FileState | Rejection> {
    const fileId = fileIdOf(name);
    if (fileId === undefined) return fileNotFound;
    const stream = fileSubject({ fileId });
    const mayRead = async (state: FileState) =>
      isNamed(state, name) && state.channelId === null && (await canSeeAnyHolder(by, state, seen));
    const { state } = await admission.load(fileAggregate, stream, seen);
    if (await mayRead(state)) return state;
    // Another node may have hung it on something a moment ago.
    const { state: now } = await streams.reload(fileAggregate, stream);
    return now !== state && (await mayRead(now)) ? now : fileNotFound;
  }

  /** An image of a channel or conversation that the caller is known to see. */
  async function image(channelId: string, name: string, seen?: Position): Promise<FileState | Rejection> {
    const fileId = fileIdOf(name);
    if (fileId === undefined) return fileNotFound;
    const { state } = await admission.load(fileAggregate, fileSubject({ fileId }), seen);
    return isNamed(state, name) && state.channelId === channelId ? state : fileNotFound;
  }

  async function canSeeAnyHolder(
    by: Caller,
    { uploadedBy, holders, name }: FileState,
    seen?: Position,
  ): Promise<boolean> {
    if (uploadedBy === by.userId) return true;
    // Reading a message with its thread may take long: none is read of a place that the caller does not see, and those of
    // its uploader's come first, however often others have hung it on theirs since.
    const known = new Map<string, boolean>();
    const isOwn = (holder: Holder) => Number(holder.by === uploadedBy);
    for (const holder of holders.toReversed().sort((a, b) => isOwn(b) - isOwn(a))) {
      const { channelId } = holder;
      const seesPlace = known.get(channelId) ?? (await places.canSee(by, channelId, seen));
      known.set(channelId, seesPlace);
      if (seesPlace && (await canSeeHolder(by, holder, name, seen))) return true;
    }
    return false;
  }

  /** Whether the caller sees what holds it: that it is deleted, or edited away, the message tells at once. */
  async function canSeeHolder(
    by: Caller,
    { messageId, holderId }: Holder,
    name: string,
    seen?: Position,
  ): Promise<boolean> {
    const found = await places.message(by, messageId, seen);
    if ('rejected' in found) return false;
    const { body, replies } = found.state;
    if (holderId !== messageId) return replyWith(replies, holderId) !== undefined;
    return body.attachments.some(({ filename }) => filename === name);
  }

  /** Undefined once nobody can open it any more. */
  async function originalNameOf({ name, sealedName, uploadedBy }: FileState): Promise<string | undefined> {
    const fileId = fileIdOf(name) ?? '';
    // Whose email is erased is so altogether, whatever this process remembers of the file.
    const { users } = (await admission.roster()).state;
    if (sealedName === '' || users.get(uploadedBy)?.email === '') return name;
    const opened = (await vault.open(fileSubject({ fileId }), sealedName)) as { name: string } | undefined;
    return opened?.name;
  }

  /** What is read of it: the thumbnail where that is asked for and there is one. */
  async function download(state: FileState, isThumb = false): Promise<Download | Rejection> {
    const { contentType, size, sha256, stored, sealedKey } = (isThumb && state.thumbnail) || state.content;
    const stream = fileSubject({ fileId: fileIdOf(state.name) ?? '' });
    const key = (await vault.open(stream, sealedKey)) as { key: string } | undefined;
    const originalName = await originalNameOf(state);
    if (!key || originalName === undefined) return fileNotFound;
    const { position } = await streams.load(fileAggregate, stream);
    const blob = { stored, size, key: keyOf(key.key) };
    const read = (from: number, to: number) => sealedFiles.read(blob, from, to);
    return { contentType, size, sha256, originalName, position, read };
  }

  return { upload, file, image, download, originalNameOf };
}

const isNamed = ({ status, name }: FileState, filename: string): boolean => status === 'there' && name === filename;

/** What stands for something that is sealed under a key that is destroyed. */
const ERASED = '-';

/** Bytes that have come in, and what they are. */
interface Part {
  readonly contentType: string;
  readonly from: IncomingBlob;
}

interface Checked {
  readonly originalName: string;
  readonly extension: string;
  readonly received: readonly [Part, Part?] & readonly Part[];
}

function check(
  filename: string,
  purpose: Purpose,
  content: IncomingBlob | undefined,
  thumbnail: IncomingBlob | undefined,
): Checked | Rejection {
  const originalName = tidyFileName(filename);
  if (originalName === undefined) return badName;
  const extension = extensionOf(originalName);
  const contentType = extension && typeOf(extension, purpose);
  if (!contentType) return unknownType(purpose);
  if (!content || content.size === 0) return emptyFile;
  if (!fitsType(extension, content.head)) return otherType;
  const main = { contentType, from: content };
  if (!thumbnail || thumbnail.size === 0) return { originalName, extension, received: [main] };
  const ofThumbnail = imageTypeOf(thumbnail.head);
  if (!ofThumbnail) return badThumbnail;
  return { originalName, extension, received: [main, { contentType: ofThumbnail, from: thumbnail }] };
}
