/**
 * Stores the secret beside the keys it wraps, shared by all nodes. No protection: for installations without a
 * configured secret.
 */
import type { Db } from 'mongodb';
import type { StoredSecret } from '../../crypto/wrapping.js';
import { SECRETS, type SecretRow } from './keyring.js';

const ID = 'kept';

export function createStoredSecret(db: Db): StoredSecret {
  const rows = db.collection<SecretRow>(SECRETS);
  const read = async () => (await rows.findOne({ _id: ID }))?.secret;
  return {
    read,
    async storeIfAbsent(secret) {
      const row = await rows.findOneAndUpdate(
        { _id: ID },
        { $setOnInsert: { secret } },
        { upsert: true, returnDocument: 'after' },
      );
      return row?.secret ?? secret;
    },
    async replace(secret) {
      await rows.updateOne({ _id: ID }, { $set: { secret } }, { upsert: true });
    },
    async remove() {
      await rows.deleteOne({ _id: ID });
    },
  };
}
