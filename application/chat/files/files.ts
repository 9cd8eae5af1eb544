/** Uploads and downloads of files and images; access is decided from the log's state, never from rows. */

import { type Content, fileSubject } from '../../../domain/chat/events/files.js';
import { type FileEvent, type FileState, fileNotFound, type Holder } from '../../../domain/chat/file.js';
import { extensionOf, fileIdOf, storedName, tidyFileName } from '../../../domain/chat/file-names.js';
import { fitsType, imageTypeOf, type Purpose, typeOf } from '../../../domain/chat/file-types.js';
import { isRejection, type Rejection, rejection } from '../../../domain/shared/index.js';
import type { CommandContext, FileStore, Position, Vault } from '../../ports/index.js';
import { type IncomingBlob, keyOf, keyText, type SealedFiles } from '../../secrets/index.js';
import { fileAggregate } from '../aggregates.js';
import type { Visibility } from '../messages/visibility.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';

export interface FilePorts extends Pick<ChatPorts, 'handle' | 'aggregates' | 'derivation' | 'clock' | 'admission'> {
  readonly vault: Pick<Vault, 'create' | 'seal' | 'open'>;
  readonly visibility: Visibility;
  readonly sealedFiles: SealedFiles;
  readonly fileStore: FileStore;
}

/** An upload; `channelId` is the channel or conversation of an image. */
export interface Upload {
  readonly filename: string;
  readonly channelId: string | null;
  readonly content: IncomingBlob | undefined;
  readonly thumbnail?: IncomingBlob | undefined;
}

export interface Download {
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly originalName: string;
  /** Log position of the access decision. */
  readonly position: Position;
  read(from: number, to: number): AsyncIterable<Uint8Array>;
}

const invalid = (rejected: string, detail: string): Rejection => rejection(`chat/${rejected}`, 'invalid', detail);
const badName = invalid('bad-file-name', 'filename must be 1 to 255 characters');
const unknownType = (purpose: Purpose) =>
  invalid(
    'unknown-file-type',
    purpose === 'image'
      ? 'filename must end in jpg, jpeg, png, webp or svg'
      : 'filename must end in pdf, txt, md, csv, json, zip, doc, docx, xls, xlsx, ppt or pptx',
  );
const emptyFile = invalid('empty-file', 'The file is empty');
const contentMismatch = invalid('other-file-type', 'The content does not match the file extension');
const badThumbnail = invalid('bad-thumbnail', 'thumbnail must be an image');

export type Files = ReturnType<typeof createFiles>;

export function createFiles(ports: FilePorts) {
  const { handle, aggregates, vault, derivation, clock, admission, visibility, sealedFiles, fileStore } = ports;

  async function upload(
    { userId }: Caller,
    { filename, channelId, content, thumbnail }: Upload,
    context: CommandContext,
  ) {
    const checked = validateUpload(filename, channelId === null ? 'file' : 'image', content, thumbnail);
    if ('rejected' in checked) return checked;
    const { originalName, extension, received } = checked;
    const fileId = derivation.id('chat.file', context.commandId);
    const subject = fileSubject({ fileId });
    await vault.create(subject);
    // Without a key the file was discarded; the command is then refused by its stream.
    const sealSecret = async (secret: object) => (await vault.seal(subject, secret)) ?? ERASED;
    const sealContent = async ({ contentType, from }: Part): Promise<Content> => {
      const { size, sha256, stored, key } = from;
      return { contentType, size, sha256, stored, sealedKey: await sealSecret({ key: keyText(key) }) };
    };
    const [main, thumb] = received;
    const now = clock.now();
    const command = {
      type: 'UploadFile' as const,
      fileId,
      name: storedName(now, fileId, extension),
      by: userId,
      channelId,
      content: await sealContent(main),
      thumbnail: thumb ? await sealContent(thumb) : null,
      sealedName: await sealSecret({ name: originalName }),
      now,
    };
    const commit = async () => {
      for (const { from } of received) await from.keep(fileId);
      // From here on the log may refer to the content, even if the append fails.
      for (const { from } of received) from.release();
      return undefined;
    };
    const outcome = await handle(fileAggregate, subject, command, context, commit);
    if (isRejection(outcome)) {
      await removeBlobs(received);
      return outcome;
    }
    const [event] = outcome.events as readonly Extract<FileEvent, { type: 'FileUploaded' }>[];
    if (!event) throw new Error('upload appended no event');
    // A repeated upload: the log refers to the content of the first one.
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

  /** A file by its stored name, for its uploader and for those who may see a message it is attached to. */
  async function file(by: Caller, name: string, seen?: Position): Promise<FileState | Rejection> {
    const fileId = fileIdOf(name);
    if (fileId === undefined) return fileNotFound;
    const stream = fileSubject({ fileId });
    const mayRead = async (state: FileState) =>
      isNamed(state, name) && state.channelId === null && (await canSeeAnyHolder(by, state, seen));
    const { state } = await admission.load(fileAggregate, stream, seen);
    if (await mayRead(state)) return state;
    // Another node may have attached it a moment ago: reloads before refusing.
    const { state: now } = await aggregates.reload(fileAggregate, stream);
    return now !== state && (await mayRead(now)) ? now : fileNotFound;
  }

  /** An uploaded image of a channel or conversation, whoever uses it. */
  async function image(channelId: string, name: string, seen?: Position): Promise<FileState | Rejection> {
    const fileId = fileIdOf(name);
    if (fileId === undefined) return fileNotFound;
    const { state } = await admission.load(fileAggregate, fileSubject({ fileId }), seen);
    return isNamed(state, name) && state.channelId === channelId ? state : fileNotFound;
  }

  /** An image for its uploader, and for all who see its channel unless every message with it has been deleted. */
  async function shownImage(
    by: Caller,
    channelId: string,
    name: string,
    seen?: Position,
  ): Promise<FileState | Rejection> {
    const found = await image(channelId, name, seen);
    if ('rejected' in found || found.holders.length === 0) return found;
    return (await canSeeAnyHolder(by, found, seen)) ? found : fileNotFound;
  }

  async function canSeeAnyHolder(
    by: Caller,
    { uploadedBy, holders, name }: FileState,
    seen?: Position,
  ): Promise<boolean> {
    if (uploadedBy === by.userId) return true;
    // Skips channels the caller cannot see, and checks the uploader's own messages first, however often others have
    // attached the file.
    const known = new Map<string, boolean>();
    const isOwn = (holder: Holder) => Number(holder.by === uploadedBy);
    for (const holder of holders.toReversed().sort((a, b) => isOwn(b) - isOwn(a))) {
      const { channelId } = holder;
      const seesPlace = known.get(channelId) ?? (await visibility.canSee(by, channelId, seen));
      known.set(channelId, seesPlace);
      if (seesPlace && (await canSeeHolder(by, holder, name, seen))) return true;
    }
    return false;
  }

  async function canSeeHolder(by: Caller, { messageId }: Holder, name: string, seen?: Position): Promise<boolean> {
    const found = await visibility.message(by, messageId, seen);
    if ('rejected' in found) return false;
    const { attachments, images } = found.state.body;
    return images.includes(name) || attachments.some(({ filename }) => filename === name);
  }

  /** Undefined when the key was destroyed. */
  async function originalNameOf({ name, sealedName, uploadedBy }: FileState): Promise<string | undefined> {
    const fileId = fileIdOf(name) ?? '';
    // The names of an erased uploader's files are erased too, even if cached in this process.
    const { users } = (await admission.roster()).state;
    if (sealedName === '' || users.get(uploadedBy)?.email === '') return name;
    const opened = (await vault.open(fileSubject({ fileId }), sealedName)) as { name: string } | undefined;
    return opened?.name;
  }

  /** Opens the thumbnail if requested and present, else the content. */
  async function download(state: FileState, isThumb = false): Promise<Download | Rejection> {
    const { contentType, size, sha256, stored, sealedKey } = (isThumb && state.thumbnail) || state.content;
    const stream = fileSubject({ fileId: fileIdOf(state.name) ?? '' });
    const key = (await vault.open(stream, sealedKey)) as { key: string } | undefined;
    const originalName = await originalNameOf(state);
    if (!key || originalName === undefined) return fileNotFound;
    const { position } = await aggregates.load(fileAggregate, stream);
    const blob = { stored, size, key: keyOf(key.key) };
    const read = (from: number, to: number) => sealedFiles.read(blob, from, to);
    return { contentType, size, sha256, originalName, position, read };
  }

  return { upload, file, image, shownImage, download, originalNameOf };
}

const isNamed = ({ status, name }: FileState, filename: string): boolean => status === 'active' && name === filename;

/** Placeholder for text that cannot be sealed because its key was destroyed. */
const ERASED = '-';

interface Part {
  readonly contentType: string;
  readonly from: IncomingBlob;
}

interface Checked {
  readonly originalName: string;
  readonly extension: string;
  readonly received: readonly [Part, Part?] & readonly Part[];
}

function validateUpload(
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
  if (!fitsType(extension, content.head)) return contentMismatch;
  const main = { contentType, from: content };
  if (!thumbnail || thumbnail.size === 0) return { originalName, extension, received: [main] };
  const thumbnailType = imageTypeOf(thumbnail.head);
  if (!thumbnailType) return badThumbnail;
  return { originalName, extension, received: [main, { contentType: thumbnailType, from: thumbnail }] };
}
