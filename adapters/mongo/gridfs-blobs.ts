/** File store in GridFS, for MongoDB servers that all nodes share. */
import { hash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { Binary, type Db, GridFSBucket, ObjectId } from 'mongodb';
import { STORE_CALL_MS, withDeadline } from '../../application/concurrency/index.js';
import {
  type FileStore,
  NotStored,
  UnavailableError,
  type Unsettled,
  type Writing,
} from '../../application/ports/index.js';

interface PendingUpload {
  readonly _id: ObjectId;
  /** Owner to ask about the file. */
  readonly of?: string;
  /** Name of a blob from a directory store. */
  readonly stored?: string;
}

/** Age at which an unsettled upload counts as abandoned; no upload takes longer. */
const ABANDONED_MS = 24 * 3_600_000;
const ID = /^[\da-f]{24}$/;
/** Names in a directory store, as `annals migrate` brings them. */
const FOREIGN_ID = /^[\w-]{22}$/;

/** Document of a blob. One from a directory store gets a time of its own, 1970, so that it is never taken for a new one. */
function documentOf(stored: string): ObjectId | undefined {
  if (ID.test(stored)) return new ObjectId(stored);
  return FOREIGN_ID.test(stored) ? new ObjectId(`00000000${hash('sha256', stored).slice(0, 16)}`) : undefined;
}

/**
 * Copies a blob of a directory store, unless it is there already. `owner` is asked whether it is in use, if it was
 * never settled.
 */
export async function importBlob(db: Db, bucket: string, { stored, size, owner, read }: DirectoryBlob): Promise<void> {
  const id = documentOf(stored)!;
  if (owner !== undefined) {
    const pending = db.collection<PendingUpload>(`${bucket}.begun`);
    await pending.updateOne({ _id: id }, { $set: { of: owner, stored } }, { upsert: true });
  }
  const files = new GridFSBucket(db, { bucketName: bucket });
  const [present] = await files.find({ _id: id }).toArray();
  if (Number(present?.length ?? -1) === size) return;
  await db.collection(`${bucket}.chunks`).deleteMany({ files_id: id });
  await pipeline(read(), files.openUploadStreamWithId(id, stored));
}

export interface DirectoryBlob {
  readonly stored: string;
  /** Bytes. */
  readonly size: number;
  readonly owner?: string | undefined;
  read(): AsyncIterable<Uint8Array>;
}

/** Creates a file store. `bucket` is the prefix of its collections; `now` returns Unix ms. */
export function createGridFsStore(db: Db, bucket: string, now: () => number, abandonedMs = ABANDONED_MS): FileStore {
  const files = new GridFSBucket(db, { bucketName: bucket });
  const pending = db.collection<PendingUpload>(`${bucket}.begun`);

  async function begin(): Promise<Writing> {
    const id = new ObjectId();
    const stored = id.toHexString();
    // Recorded first, so that anything written later can be found and removed.
    await pending.insertOne({ _id: id });
    const upload = files.openUploadStreamWithId(id, stored);
    let failure: Error | undefined;
    /** A write is unconfirmed and may still arrive. */
    let unconfirmed = false;
    upload.on('error', (error) => {
      failure = error;
    });
    /** Awaits a stream callback with a deadline. The stream calls back, or emits an error, or neither. */
    const awaitCallback = (start: (done: (error?: Error | null) => void) => void): Promise<void> =>
      withDeadline(
        STORE_CALL_MS,
        new Promise<void>((resolve, reject) => {
          if (failure) return reject(failure);
          upload.once('error', reject);
          unconfirmed = true;
          start((error) => {
            upload.off('error', reject);
            unconfirmed = false;
            if (error) reject(error);
            else resolve();
          });
        }),
        'MongoDB',
      );
    return {
      stored,
      write: (bytes) => awaitCallback((done) => void upload.write(bytes, done)),
      async keep(of) {
        await pending.updateOne({ _id: id }, { $set: { of } });
        await awaitCallback((done) => void upload.end(done));
      },
      async drop() {
        upload.destroy();
        await remove(stored);
        if (!unconfirmed) await settle(stored);
      },
    };
  }

  async function* read(stored: string, from: number, to: number): AsyncGenerator<Uint8Array> {
    const id = documentOf(stored);
    if (!id) throw new NotStored('not a valid file id');
    const source = files.openDownloadStream(id, { start: from, end: to });
    try {
      for await (const bytes of source) yield bytes instanceof Binary ? bytes.value() : bytes;
    } catch (error) {
      if (error instanceof UnavailableError || !(error instanceof Error)) throw error;
      throw new NotStored('file not found', { cause: error });
    }
  }

  async function remove(stored: string): Promise<void> {
    const id = documentOf(stored);
    if (!id) return;
    // `GridFSBucket.delete` removes nothing of an upload that was never finished.
    await db.collection<{ _id: ObjectId }>(`${bucket}.files`).deleteOne({ _id: id });
    await db.collection(`${bucket}.chunks`).deleteMany({ files_id: id });
  }

  async function settle(stored: string): Promise<void> {
    const id = documentOf(stored);
    if (id) await pending.deleteOne({ _id: id });
  }

  async function* unsettled(): AsyncGenerator<Unsettled> {
    const maxId = ObjectId.createFromTime(Math.floor((now() - abandonedMs) / 1000));
    const expired = await pending.find({ _id: { $lt: maxId } }).toArray();
    for (const { _id, of, stored = _id.toHexString() } of expired) yield { stored, of };
  }

  return { begin, read, remove, settle, unsettled };
}
