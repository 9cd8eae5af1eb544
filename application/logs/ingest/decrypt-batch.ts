/** Opens batches as they stand in the log. */
import { type BatchSecret, type RecordsIngested, type SealedBatch, textsOf } from '../../../domain/logs/batch.js';
import { type PlacedRecord, readRecord } from '../../../domain/logs/record.js';
import { idOf } from '../../../domain/logs/record-id.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import type { RecordedEvent, Vault } from '../../ports/index.js';

/** An event of the log, its records still sealed. */
export type StoredBatch = Pick<RecordedEvent<RecordsIngested>, 'position' | 'data'>;

/** The JSON texts of the records of a batch, in their places; undefined once their key is destroyed. */
export async function textsIn(vault: Vault, data: SealedBatch): Promise<readonly string[] | undefined> {
  const secret = await vault.open(bucketSubject(data), data.secret);
  return secret && textsOf(secret as BatchSecret);
}

/** The records of a batch in their places; none once their key is destroyed. */
export async function recordsOf(vault: Vault, { data, position }: StoredBatch): Promise<readonly PlacedRecord[]> {
  const texts = (await textsIn(vault, data)) ?? [];
  return texts.map((text, place) => ({
    ...readRecord(text, data.producerId, data.receivedAt),
    id: idOf(position, place),
  }));
}
