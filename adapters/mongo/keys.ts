/** The subjects' keys in MongoDB. A destroyed key leaves a mark without the key, so that none is ever made again. */
import { Binary, type Db } from 'mongodb';
import type { KeyStore } from '../../application/vault.js';

interface KeyRow {
  readonly _id: string;
  readonly key?: Binary;
  readonly createdAt?: Date;
  readonly destroyedAt?: Date;
}

export function createKeyStore(db: Db): KeyStore {
  const keys = db.collection<KeyRow>('keys');
  const keyIn = (row: KeyRow | null) => row?.key && Buffer.from(row.key.buffer);
  return {
    async create(subject, fresh) {
      const row = await keys.findOneAndUpdate(
        { _id: subject },
        { $setOnInsert: { key: new Binary(fresh), createdAt: new Date() } },
        { upsert: true, returnDocument: 'after' },
      );
      return keyIn(row);
    },
    async read(subject) {
      const row = await keys.findOne({ _id: subject });
      return row && !row.key ? 'destroyed' : keyIn(row);
    },
    async destroy(subject) {
      await keys.replaceOne({ _id: subject }, { destroyedAt: new Date() }, { upsert: true });
    },
  };
}
