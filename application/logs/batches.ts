/** Opens batches as they stand in the log. */
import { keepingSubject, type RecordsIngested, type SealedBatch, textsOf } from '../../domain/logs/batch.js';
import { idOf } from '../../domain/logs/place.js';
import { type PlacedRecord, readRecord } from '../../domain/logs/record.js';
import type { RevealedEvent, Vault } from '../ports.js';

/** An event of the live feed, its records still sealed. */
export type Batch = Pick<RevealedEvent, 'type' | 'position' | 'data'>;

/** The records of a batch in their places; none once their key is destroyed. */
export async function recordsOf(vault: Vault, event: Batch): Promise<readonly PlacedRecord[]> {
  const data = event.data as SealedBatch;
  const secret = await vault.open(keepingSubject(data), data.secret);
  if (!secret) return [];
  return textsOf(secret as RecordsIngested['data']['secret']).map((text, place) => ({
    ...readRecord(text, data.producerId, data.receivedAt),
    id: idOf(event.position, place),
  }));
}
