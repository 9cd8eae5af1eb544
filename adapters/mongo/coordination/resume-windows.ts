/** Stores the resume windows of live feeds: one row per service, so that both positions change together. */
import { type Db, Long } from 'mongodb';
import type { ResumeWindowStore } from '../../../application/subscription/index.js';

interface WindowRow {
  readonly _id: string;
  /** Horizon of the window. */
  readonly position: Long;
  /** Position to read from. Earlier releases stored it in a second row. */
  readonly from?: Long;
  readonly fence: Long;
}

const rowOf = (service: string) => `window:${service}`;
const secondRowOf = (service: string) => `window:${service}:from`;

/** Kept in the checkpoints collection, where nodes of an earlier release find them. */
export function createWindows(db: Db): ResumeWindowStore {
  const rows = db.collection<WindowRow>('checkpoints');
  return {
    async read(service) {
      // Reverse order of the earlier release's writes: an old horizon with a newer `from` would skip events.
      const second = await rows.findOne({ _id: secondRowOf(service) });
      const row = await rows.findOne({ _id: rowOf(service) });
      if (!row) return undefined;
      const horizon = row.position.toBigInt();
      const from = (row.from ?? second?.position)?.toBigInt();
      return { horizon, from: from ?? horizon };
    },

    async save(windows) {
      const writes = Array.from(windows, ([service, { horizon, from }]) => {
        const position = Long.fromBigInt(horizon);
        const update = { $set: { position, from: Long.fromBigInt(from), fence: Long.ZERO } };
        return { updateOne: { filter: { _id: rowOf(service) }, update, upsert: true } };
      });
      if (writes.length > 0) await rows.bulkWrite(writes);
    },
  };
}
