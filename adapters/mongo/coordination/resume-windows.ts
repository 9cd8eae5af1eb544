/** The windows of the live feed in MongoDB: one row a service, so that none is ever found half moved. */
import { type Db, Long } from 'mongodb';
import type { Windows } from '../../../application/subscription/index.js';

interface WindowRow {
  readonly _id: string;
  /** Where the window begins. */
  readonly position: Long;
  /** Where it is read from. A row of an earlier release has it in a second one. */
  readonly from?: Long;
  readonly fence: Long;
}

const rowOf = (service: string) => `window:${service}`;
const secondRowOf = (service: string) => `window:${service}:from`;

/** They stand among the checkpoints, where nodes of an earlier release find them, too. */
export function createWindows(db: Db): Windows {
  const rows = db.collection<WindowRow>('checkpoints');
  return {
    async read(service) {
      // In this order, against that in which the two were saved: between a horizon and a later `from` events would
      // be left out unseen.
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
