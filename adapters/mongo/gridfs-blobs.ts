/** Files in GridFS, where MongoDB is a server that all nodes share. */
import { Binary, type Db, GridFSBucket, ObjectId } from 'mongodb';
import { STORE_CALL_MS, withDeadline } from '../../application/concurrency/index.js';
import {
  type FileStore,
  NotStored,
  UnavailableError,
  type Unsettled,
  type Writing,
} from '../../application/ports/index.js';

/** Something that was begun and that nobody answers for yet. */
interface Begun {
  readonly _id: ObjectId;
  /** Who is to know of it, once it has come to an end. */
  readonly of?: string;
}

/** The longest that an upload can take: after it nobody is writing any more. */
const ABANDONED_MS = 24 * 3_600_000;
const ID = /^[\da-f]{24}$/;

/** `bucket` names its collections; `now` is Unix ms. */
export function createGridFsStore(db: Db, bucket: string, now: () => number, abandonedMs = ABANDONED_MS): FileStore {
  const files = new GridFSBucket(db, { bucketName: bucket });
  const begun = db.collection<Begun>(`${bucket}.begun`);

  async function begin(): Promise<Writing> {
    const id = new ObjectId();
    const stored = id.toHexString();
    // First: of whatever comes after it, it is known that it may have to go.
    await begun.insertOne({ _id: id });
    const upload = files.openUploadStreamWithId(id, stored);
    let failure: Error | undefined;
    /** Something may be written yet of which nobody has heard. */
    let unclear = false;
    upload.on('error', (error) => {
      failure = error;
    });
    /** The stream tells of its end or of an error, or of neither. */
    const told = (act: (done: (error?: Error | null) => void) => void): Promise<void> =>
      withDeadline(
        STORE_CALL_MS,
        new Promise<void>((resolve, reject) => {
          if (failure) return reject(failure);
          upload.once('error', reject);
          unclear = true;
          act((error) => {
            upload.off('error', reject);
            unclear = false;
            if (error) reject(error);
            else resolve();
          });
        }),
        'MongoDB',
      );
    return {
      stored,
      write: (bytes) => told((done) => void upload.write(bytes, done)),
      async keep(of) {
        await begun.updateOne({ _id: id }, { $set: { of } });
        await told((done) => void upload.end(done));
      },
      async drop() {
        upload.destroy();
        await remove(stored);
        if (!unclear) await settle(stored);
      },
    };
  }

  async function* read(stored: string, from: number, to: number): AsyncGenerator<Uint8Array> {
    if (!ID.test(stored)) throw new NotStored('no file is called so');
    const source = files.openDownloadStream(new ObjectId(stored), { start: from, end: to });
    try {
      for await (const bytes of source) yield bytes instanceof Binary ? bytes.value() : bytes;
    } catch (error) {
      if (error instanceof UnavailableError || !(error instanceof Error)) throw error;
      throw new NotStored('there is no such file', { cause: error });
    }
  }

  async function remove(stored: string): Promise<void> {
    if (!ID.test(stored)) return;
    const id = new ObjectId(stored);
    // Not what the bucket offers: it finds nothing to remove of what was never ended.
    await db.collection<{ _id: ObjectId }>(`${bucket}.files`).deleteOne({ _id: id });
    await db.collection(`${bucket}.chunks`).deleteMany({ files_id: id });
  }

  async function settle(stored: string): Promise<void> {
    if (ID.test(stored)) await begun.deleteOne({ _id: new ObjectId(stored) });
  }

  async function* unsettled(): AsyncGenerator<Unsettled> {
    const before = ObjectId.createFromTime(Math.floor((now() - abandonedMs) / 1000));
    const found = await begun.find({ _id: { $lt: before } }).toArray();
    for (const { _id, of } of found) yield { stored: _id.toHexString(), of };
  }

  return { begin, read, remove, settle, unsettled };
}
