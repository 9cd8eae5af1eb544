/** Stores the checkpoints of projections and reactions, and the resume windows of live feeds. */
import { type Db, Long } from 'mongodb';
import { createBatchLoader } from '../../../application/concurrency/index.js';
import type { Checkpoints } from '../../../application/ports/index.js';
import type { ResumeWindowStore } from '../../../application/subscription/index.js';
import { isDuplicateKey } from '../call-policy.js';

interface CheckpointRow {
  readonly _id: string;
  readonly position: Long;
  /** Lease of the last writer. Fencing tokens are counted per lease. */
  readonly lease?: string;
  readonly fence: Long;
  /** Set on the rows of resume windows: the read position, ahead of the window's horizon in `position`. */
  readonly from?: Long;
}

export function createCheckpoints(db: Db): Checkpoints {
  const rows = db.collection<CheckpointRow>('checkpoints');
  const load = createBatchLoader(async (names) => {
    const found = await rows.find({ _id: { $in: [...names] } }).toArray();
    return new Map(found.map(({ _id, position }) => [_id, position.toBigInt()]));
  });
  return {
    read: load,

    async advance(positions, { name: lease, fence: fencingToken }) {
      const fence = Long.fromBigInt(fencingToken);
      const writes = Object.entries(positions).map(([_id, newPosition]) => {
        const position = Long.fromBigInt(newPosition);
        const notNewer = [
          { lease, fence: { $lte: fence } },
          { lease: { $ne: lease }, position: { $lte: position } },
        ];
        const update = { $set: { position, lease, fence } };
        return { updateOne: { filter: { _id, $or: notNewer }, update, upsert: true } };
      });
      try {
        if (writes.length > 0) await rows.bulkWrite(writes);
        return true;
      } catch (error) {
        // A newer writer has advanced the checkpoint: the upsert collided with its row.
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },

    async forget(name) {
      await rows.deleteOne({ _id: name });
    },

    async all() {
      const all = await rows.find({}).toArray();
      return new Map(all.map(({ _id, position, from }) => [_id, (from ?? position).toBigInt()]));
    },
  };
}

/** Stores resume windows: one row per service, so that both positions change together. */
export function createWindows(db: Db): ResumeWindowStore {
  const rows = db.collection<CheckpointRow>('checkpoints');
  return {
    async read(service) {
      const row = await rows.findOne({ _id: `window:${service}` });
      if (!row) return undefined;
      return { horizon: row.position.toBigInt(), from: (row.from ?? row.position).toBigInt() };
    },

    async save(windows) {
      const writes = Array.from(windows, ([service, { horizon, from }]) => {
        const position = Long.fromBigInt(horizon);
        const update = { $set: { position, from: Long.fromBigInt(from), fence: Long.ZERO } };
        return { updateOne: { filter: { _id: `window:${service}` }, update, upsert: true } };
      });
      if (writes.length > 0) await rows.bulkWrite(writes);
    },
  };
}
