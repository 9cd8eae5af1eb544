/** How far each build of a read model, and each reaction, has come; fenced by the lease of whoever moves it on. */
import { type Db, Long, MongoServerError } from 'mongodb';
import type { Checkpoints } from '../../../application/ports/index.js';

interface CheckpointRow {
  readonly _id: string;
  readonly position: Long;
  /** The lease under which it was moved there. Fences are counted for each lease. */
  readonly lease?: string;
  readonly fence: Long;
  /** Of a window of the live feed, which stands here too: this is further on than its position. */
  readonly from?: Long;
}

const DUPLICATE_KEY = 11000;

export function createCheckpoints(db: Db): Checkpoints {
  const rows = db.collection<CheckpointRow>('checkpoints');
  return {
    async read(name) {
      const row = await rows.findOne({ _id: name });
      return row?.position.toBigInt();
    },

    async advance(positions, { name: lease, fence: counted }) {
      const fence = Long.fromBigInt(counted);
      const writes = Object.entries(positions).map(([_id, at]) => {
        const position = Long.fromBigInt(at);
        const earlier = [
          { lease, fence: { $lte: fence } },
          { lease: { $ne: lease }, position: { $lte: position } },
        ];
        const update = { $set: { position, lease, fence } };
        return { updateOne: { filter: { _id, $or: earlier }, update, upsert: true } };
      });
      try {
        if (writes.length > 0) await rows.bulkWrite(writes);
        return true;
      } catch (error) {
        // Somebody else has moved it on: the upsert met its row.
        if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return false;
        throw error;
      }
    },

    async forget(name) {
      await rows.deleteOne({ _id: name });
    },

    async all() {
      const found = await rows.find({}).toArray();
      return new Map(found.map(({ _id, position, from }) => [_id, (from ?? position).toBigInt()]));
    },
  };
}
