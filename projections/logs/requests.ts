/** What else a batch says: how far its file was read, and what its request was answered. */
import type { RecordedEvent } from '../../application/ports.js';
import type { SealedBatch } from '../../domain/logs/batch.js';
import { DAY_MS } from '../../domain/logs/instant.js';
import { guarded, type RowWrite } from '../projection.js';

/** How long an `Idempotency-Key` is recognised. */
const REQUESTS_KEPT_MS = 2 * DAY_MS;

export function sourceWrites(event: RecordedEvent): RowWrite[] {
  const { source } = event.data as SealedBatch;
  if (!source) return [];
  return [guarded({ put: source.id, update: { $set: { offset: source.offset } } }, event)];
}

export function requestWrites(event: RecordedEvent): RowWrite[] {
  const { receivedAt } = event.data as SealedBatch;
  const { commandId, fingerprint } = event.metadata;
  if (!commandId || !fingerprint) return [];
  const expireAt = new Date(receivedAt + REQUESTS_KEPT_MS);
  const update = { $set: { fingerprint, receivedAt, expireAt }, $push: { batches: event.id } };
  return [guarded({ put: commandId, update }, event)];
}
