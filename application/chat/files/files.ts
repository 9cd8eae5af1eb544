/** Uploads and downloads of files and images; access is decided from the log's state, never from rows. */

import { type Content, fileIdOf, fileSubject, storedName } from '../../../domain/chat/events/files.js';
import {
  type FileEvent,
  type FileState,
  fileNotFound,
  type Holder,
  type Upload,
  uploadOf,
} from '../../../domain/chat/file.js';
import { fitsType, imageTypeOf, type Purpose, typeOf } from '../../../domain/chat/file-types.js';
import { extensionOf, isRejection, type Rejection, rejection, tidyFileName } from '../../../domain/shared/index.js';
import type { CommandContext, FileStore, Position, StoredFile } from '../../ports/index.js';
import { type IncomingBlob, keyOf, keyText, type SealedFiles } from '../../secrets/index.js';
import { fileAggregate } from '../aggregates.js';
import type { Visibility } from '../messages/visibility.js';
import type { Caller, ChatPorts } from '../sign-in/authenticate.js';

export interface FilePorts
  extends Pick<ChatPorts, 'handle' | 'aggregates' | 'vault' | 'derivation' | 'clock' | 'admission'> {
  readonly visibility: Visibility;
  readonly sealedFiles: SealedFiles;
  readonly fileStore: FileStore;
}

/** A file that is being uploaded; `channelId` is the channel or conversation of an image. */
export interface IncomingFile {
  readonly filename: string;
  readonly channelId: string | null;
  readonly content: IncomingBlob | undefined;
  readonly thumbnail?: IncomingBlob | undefined;
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
    { filename, channelId, content, thumbnail }: IncomingFile,
    context: CommandContext,
  ) {
    const checked = validateUpload(filename, channelId === null ? 'file' : 'image', content, thumbnail);
    if ('rejected' in checked) return checked;
    const { originalName, extension, main, thumb } = checked;
    const received = thumb ? [main, thumb] : [main];
    const fileId = derivation.id('chat.file', context.commandId);
    const subject = fileSubject({ fileId });
    await vault.create(subject);
    const sealContent = async ({ contentType, from }: Part): Promise<Content> => {
      const { size, sha256, stored, key } = from;
      // Without a key the file was discarded; the command is then refused by its stream.
      const sealedKey = (await vault.seal(subject, { key: keyText(key) })) ?? '-';
      return { contentType, size, sha256, stored, sealedKey };
    };
    const uploadedAt = clock.now();
    const about = {
      fileId,
      name: storedName(uploadedAt, fileId, extension),
      uploadedBy: userId,
      uploadedAt,
      channelId,
    };
    const contents = { content: await sealContent(main), thumbnail: thumb ? await sealContent(thumb) : null };
    const command = { type: 'UploadFile' as const, upload: { ...about, ...contents, secret: { originalName } } };
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
  async function file(by: Caller, name: string, seen?: Position): Promise<Upload | Rejection> {
    const fileId = fileIdOf(name);
    if (fileId === undefined) return fileNotFound;
    const findReadable = async (state: FileState) => {
      const upload = uploadNamed(state, name, null);
      return upload && (await canSeeAnyHolder(by, upload, state.holders, seen)) ? upload : undefined;
    };
    return (await admission.find(fileAggregate, fileSubject({ fileId }), seen, findReadable)) ?? fileNotFound;
  }

  async function findImage(channelId: string, name: string, seen?: Position) {
    const fileId = fileIdOf(name);
    if (fileId === undefined) return undefined;
    const { state } = await admission.load(fileAggregate, fileSubject({ fileId }), seen);
    const upload = uploadNamed(state, name, channelId);
    return upload && { upload, holders: state.holders };
  }

  /** Whether an image was uploaded to a channel or conversation, by any user. */
  const hasImage = async (channelId: string, name: string) => (await findImage(channelId, name)) !== undefined;

  /** An image for its uploader, and for all who see its channel unless every message with it has been deleted. */
  async function image(by: Caller, channelId: string, name: string, seen?: Position): Promise<Upload | Rejection> {
    const found = await findImage(channelId, name, seen);
    if (!found) return fileNotFound;
    const { upload, holders } = found;
    const isVisible = holders.length === 0 || (await canSeeAnyHolder(by, upload, holders, seen));
    return isVisible ? upload : fileNotFound;
  }

  /** Whether the caller uploaded the file or sees a message that has it. Skips channels the caller cannot see. */
  async function canSeeAnyHolder(
    by: Caller,
    { name, uploadedBy }: Upload,
    holders: readonly Holder[],
    seen?: Position,
  ): Promise<boolean> {
    if (uploadedBy === by.userId) return true;
    const known = new Map<string, boolean>();
    for (const holder of holders.toReversed()) {
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

  /** The stored name once the uploader is erased, even if a process still caches the original one. */
  async function originalNameOf({ name, uploadedBy, secret }: Upload): Promise<string> {
    const { users } = (await admission.roster()).state;
    return users.get(uploadedBy)?.email === '' ? name : secret.originalName || name;
  }

  /** Opens the thumbnail if requested and present, else the content. */
  async function download(upload: Upload, isThumb = false): Promise<StoredFile | Rejection> {
    const { contentType, size, sha256, stored, sealedKey } = (isThumb && upload.thumbnail) || upload.content;
    const stream = fileSubject(upload);
    const key = (await vault.open(stream, sealedKey)) as { key: string } | undefined;
    if (!key) return fileNotFound;
    const originalName = await originalNameOf(upload);
    const { position } = await aggregates.load(fileAggregate, stream);
    const blob = { stored, size, key: keyOf(key.key) };
    const read = (from: number, to: number) => sealedFiles.read(blob, from, to);
    return { contentType, size, sha256, originalName, position, read };
  }

  return { upload, file, image, hasImage, download, originalNameOf };
}

/** The upload of a file of this name and channel (null for none), if it exists. */
function uploadNamed(state: FileState, name: string, channelId: string | null): Upload | undefined {
  const upload = uploadOf(state);
  return upload?.name === name && upload.channelId === channelId ? upload : undefined;
}

interface Part {
  readonly contentType: string;
  readonly from: IncomingBlob;
}

function validateUpload(
  filename: string,
  purpose: Purpose,
  content: IncomingBlob | undefined,
  thumbnail: IncomingBlob | undefined,
) {
  const originalName = tidyFileName(filename);
  if (originalName === undefined) return badName;
  const extension = extensionOf(originalName);
  const contentType = extension && typeOf(extension, purpose);
  if (!contentType) return unknownType(purpose);
  if (!content || content.size === 0) return emptyFile;
  if (!fitsType(extension, content.head)) return contentMismatch;
  const main = { contentType, from: content };
  if (!thumbnail || thumbnail.size === 0) return { originalName, extension, main };
  const thumbnailType = imageTypeOf(thumbnail.head);
  if (!thumbnailType) return badThumbnail;
  return { originalName, extension, main, thumb: { contentType: thumbnailType, from: thumbnail } };
}
