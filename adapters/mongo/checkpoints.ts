/** How far each build of a read model, and each reaction, has come; fenced by the lease of whoever moves it on. */
import { type Db, Long, MongoServerError } from 'mongodb';
import type { Checkpoints } from '../../application/ports.js';

interface CheckpointRow {
  readonly _id: string;
  readonly position: Long;
  readonly fence: Long;
}

const DUPLICATE_KEY = 11000;

export function createCheckpoints(db: Db): Checkpoints {
  const rows = db.collection<CheckpointRow>('checkpoints');
  return {
    async read(name) {
      const row = await rows.findOne({ _id: name });
      return row?.position.toBigInt();
    },

    async advance(positions, fence) {
      const mine = Long.fromBigInt(fence);
      const writes = Object.entries(positions).map(([_id, position]) => {
        const update = { $set: { position: Long.fromBigInt(position), fence: mine } };
        return { updateOne: { filter: { _id, fence: { $lte: mine } }, update, upsert: true } };
      });
      try {
        if (writes.length > 0) await rows.bulkWrite(writes);
        return true;
      } catch (error) {
        // A newer lease has moved it on: the upsert met its row.
        if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return false;
        throw error;
      }
    },

    async forget(name) {
      await rows.deleteOne({ _id: name });
    },
  };
}
