/** Decrypts stored batches of records. */
import { type BatchSecret, type RecordsIngested, recordTexts, type SealedBatch } from '../../../domain/logs/batch.js';
import { type IdentifiedRecord, parseRecord } from '../../../domain/logs/record.js';
import { recordId } from '../../../domain/logs/record-id.js';
import { bucketSubject } from '../../../domain/logs/retention-bucket.js';
import type { RecordedEvent, Vault } from '../../ports/index.js';

export type StoredBatch = Pick<RecordedEvent<RecordsIngested>, 'position' | 'data'>;

/** JSON texts of a batch's records in order; undefined once its key is destroyed. */
export async function decryptTexts(vault: Vault, data: SealedBatch): Promise<readonly string[] | undefined> {
  const secret = await vault.open(bucketSubject(data), data.secret);
  return secret && recordTexts(secret as BatchSecret);
}

/** Parsed records of a batch in order; none once its key is destroyed. */
export async function decryptRecords(
  vault: Vault,
  { data, position }: StoredBatch,
): Promise<readonly IdentifiedRecord[]> {
  const texts = (await decryptTexts(vault, data)) ?? [];
  return texts.map((text, place) => ({
    ...parseRecord(text, data.producerId, data.receivedAt),
    id: recordId(position, place),
  }));
}
