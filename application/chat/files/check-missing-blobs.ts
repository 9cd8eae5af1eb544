/** Checks whether uploaded files are missing from the file store, as after a loss or an incomplete restore. */
import { fileSubject } from '../../../domain/chat/events/files.js';
import { uploadOf } from '../../../domain/chat/file.js';
import type { KernelPorts } from '../../command/index.js';
import { type FileStore, NotStored } from '../../ports/index.js';
import { fileAggregate } from '../aggregates.js';

export interface MissingBlobPorts extends Pick<KernelPorts, 'aggregates' | 'rows'> {
  readonly fileStore: Pick<FileStore, 'read'>;
}

/** Rows sampled: a lost store lacks all of them. */
const SAMPLE_SIZE = 50;

/** Counts the missing files in a sample. Rejects with `UnavailableError`. */
export function createMissingBlobCheck({ aggregates, rows, fileStore }: MissingBlobPorts) {
  async function storedNameOf(fileId: string): Promise<string | undefined> {
    return uploadOf((await aggregates.reload(fileAggregate, fileSubject({ fileId }))).state)?.content.stored;
  }

  async function isMissing(fileId: string): Promise<boolean> {
    const stored = await storedNameOf(fileId);
    if (stored === undefined) return false;
    try {
      for await (const _ of fileStore.read(stored, 0, 1)) break;
      return false;
    } catch (error) {
      if (!(error instanceof NotStored)) throw error;
      // The file may have been discarded meanwhile.
      return (await storedNameOf(fileId)) !== undefined;
    }
  }

  return async (): Promise<{ readonly looked: number; readonly lost: number }> => {
    const found = await rows.find<{ readonly file: string }>('chat.files', { filter: {}, limit: SAMPLE_SIZE });
    const files = new Set(found.map(({ file }) => file));
    let lost = 0;
    for (const file of files) if (await isMissing(file)) lost++;
    return { looked: files.size, lost };
  };
}
