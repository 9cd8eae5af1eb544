/** What else a batch says: whose day it is of, how far its file was read, which request it came with. */
import type { UpdateFilter } from 'mongodb';
import type { RecordedEvent } from '../../application/ports.js';
import { keepingSubject, type SealedBatch } from '../../domain/logs/batch.js';
import { DAY_MS } from '../../domain/logs/instant.js';
import { guarded, longOf, type Row, type RowUpdate, type RowWrite } from '../projection.js';

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

/** `part`: the collection that holds some of its records. */
export function keepingWrite({ data, position }: RecordedEvent, part?: string): RowWrite {
  const batch = data as SealedBatch;
  const { producerId, audit, day: received } = batch;
  const row = { _at: longOf(position), producerId, received, audit };
  const update: RowUpdate = { $setOnInsert: row, ...(part && { $addToSet: { parts: part } }) };
  return {
    updateOne: { filter: { _id: keepingSubject(batch) }, update: update as UpdateFilter<Row>, upsert: true },
  };
}
