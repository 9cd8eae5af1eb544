/** File store in GridFS, for MongoDB servers that all nodes share. */
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
}

/** Age at which an unsettled upload counts as abandoned; no upload takes longer. */
const ABANDONED_MS = 24 * 3_600_000;
const ID = /^[\da-f]{24}$/;

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
    if (!ID.test(stored)) throw new NotStored('not a valid file id');
    const source = files.openDownloadStream(new ObjectId(stored), { start: from, end: to });
    try {
      for await (const bytes of source) yield bytes instanceof Binary ? bytes.value() : bytes;
    } catch (error) {
      if (error instanceof UnavailableError || !(error instanceof Error)) throw error;
      throw new NotStored('file not found', { cause: error });
    }
  }

  async function remove(stored: string): Promise<void> {
    if (!ID.test(stored)) return;
    const id = new ObjectId(stored);
    // `GridFSBucket.delete` removes nothing of an upload that was never finished.
    await db.collection<{ _id: ObjectId }>(`${bucket}.files`).deleteOne({ _id: id });
    await db.collection(`${bucket}.chunks`).deleteMany({ files_id: id });
  }

  async function settle(stored: string): Promise<void> {
    if (ID.test(stored)) await pending.deleteOne({ _id: new ObjectId(stored) });
  }

  async function* unsettled(): AsyncGenerator<Unsettled> {
    const maxId = ObjectId.createFromTime(Math.floor((now() - abandonedMs) / 1000));
    const expired = await pending.find({ _id: { $lt: maxId } }).toArray();
    for (const { _id, of } of expired) yield { stored: _id.toHexString(), of };
  }

  return { begin, read, remove, settle, unsettled };
}
