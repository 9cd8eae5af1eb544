/** Composes files and images of the chat. */
import { join, resolve } from 'node:path';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { createDirectoryStore } from '../../../adapters/filesystem/directory-store.js';
import { createFileBudgets } from '../../../adapters/http/chat/files.js';
import { createGridFsStore } from '../../../adapters/mongo/gridfs-blobs.js';
import { createAttachments } from '../../../application/chat/files/attachments.js';
import { createMissingBlobCheck } from '../../../application/chat/files/check-missing-blobs.js';
import { createFileSweep, FILE_SWEEP_EVERY_MS } from '../../../application/chat/files/collect-orphans.js';
import { maintainFileReferences } from '../../../application/chat/files/file-lifecycle-reaction.js';
import { createFiles } from '../../../application/chat/files/files.js';
import type { Visibility } from '../../../application/chat/messages/visibility.js';
import type { Authentication } from '../../../application/chat/sign-in/authenticate.js';
import { createSealedFiles } from '../../../application/files/encrypted-blobs.js';
import type { FileStore } from '../../../application/ports/index.js';
import { HEAD_BYTES } from '../../../domain/chat/file-types.js';
import { files as fileRows } from '../../../projections/chat/files.js';
import type { Kernel } from '../../node/kernel.js';
import type { AnnalsValues } from '../../settings.js';

export const fileProjections = [fileRows];

export interface FilesContext {
  readonly kernel: Kernel;
  readonly fileStore: FileStore;
  readonly admission: Authentication;
  readonly visibility: Visibility;
}

const GRID_FS = 'chat_bytes';
const directoryOf = (values: AnnalsValues) => join(resolve(values.dataDir), 'files');

/** In MongoDB if it is configured, as other nodes may share it; otherwise in the data directory. */
export const fileStoreOf = ({ mongo, clock }: Kernel, values: AnnalsValues): FileStore =>
  values['mongo.url'] ? createGridFsStore(mongo.models, GRID_FS, clock.now) : createDirectoryStore(directoryOf(values));

/** Location of the file store, for log lines. */
export const fileStoreName = (values: AnnalsValues): string =>
  values['mongo.url'] ? `${GRID_FS} in MongoDB` : directoryOf(values);

export function createFileParts({ kernel, fileStore, admission, visibility }: FilesContext) {
  const encryptedFiles = createSealedFiles(fileStore, aes256gcm, HEAD_BYTES);
  const ports = {
    ...kernel,
    admission,
    visibility,
    fileStore,
    sealedFiles: encryptedFiles,
    context: kernel.systemContext,
  };
  const files = createFiles(ports);
  return {
    budgets: createFileBudgets(),
    files,
    encryptedFiles,
    findMissingFiles: createMissingBlobCheck(ports),
    attachments: createAttachments({ ...ports, files }),
    reactions: [maintainFileReferences(ports)],
    periodic: [{ name: 'chat.file-sweep', everyMs: FILE_SWEEP_EVERY_MS, run: createFileSweep(ports) }],
  };
}
