/** Decodes requests of the `Streams` service into plain objects; refuses fields the engine does not support. */
import { ANY, type ExpectedRevision, NO_STREAM, STREAM_EXISTS } from '../log/expected.js';
import type { ProposedEvent } from '../log/record.js';
import { Malformed, Reader } from './protobuf.js';
import { readUuid } from './uuid.js';

const NOTHING: Buffer = Buffer.alloc(0);
const NIL: Buffer = Buffer.alloc(16);

/** A stream and its expected revision. */
export interface Target {
  readonly stream: string;
  readonly expected: ExpectedRevision;
}

/** One message of a `BatchAppend` call. */
export interface BatchAppendRequest {
  readonly correlationId: Buffer;
  /** Present in the first message of an append, the only one if `isFinal`; `deadline` in Unix ms. */
  readonly options: (Target & { readonly deadline?: number }) | undefined;
  readonly events: readonly ProposedEvent[];
  readonly isFinal: boolean;
}

export function decodeBatchAppend(bytes: Buffer): BatchAppendRequest {
  const reader = new Reader(bytes);
  const events: ProposedEvent[] = [];
  let correlationId = NIL;
  let options: BatchAppendRequest['options'];
  let isFinal = false;
  while (reader.next()) {
    if (reader.field === 1) correlationId = readUuid(reader.message());
    else if (reader.field === 2) options = readTarget(reader.message());
    else if (reader.field === 3) events.push(readProposed(reader.message()));
    else if (reader.field === 4) isFinal = reader.boolean();
    else reader.refuse('BatchAppendReq');
  }
  return { correlationId, options, events, isFinal };
}

export function decodeTombstone(bytes: Buffer): Target {
  const reader = new Reader(bytes);
  let target: Target | undefined;
  while (reader.next()) {
    if (reader.field === 1) target = readTarget(reader.message());
    else reader.refuse('TombstoneReq');
  }
  if (!target) throw new Malformed('a TombstoneReq without options');
  return target;
}

/** Decodes the options of both writing calls, which use the same field numbers. */
function readTarget(reader: Reader): Target & { deadline?: number } {
  let stream = '';
  let expected: ExpectedRevision = ANY;
  let deadline: number | undefined;
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        stream = readStreamIdentifier(reader.message());
        break;
      case 2:
        expected = reader.uint64();
        break;
      case 3:
        expected = readEmpty(reader, NO_STREAM);
        break;
      case 4:
        expected = readEmpty(reader, ANY);
        break;
      case 5:
        expected = readEmpty(reader, STREAM_EXISTS);
        break;
      case 6:
        deadline = readSeconds(reader.message());
        break;
      case 7:
        deadline = Date.now() + readSeconds(reader.message());
        break;
      default:
        reader.refuse('Options');
    }
  }
  return deadline === undefined ? { stream, expected } : { stream, expected, deadline };
}

export function readEmpty<T>(reader: Reader, meaning: T): T {
  reader.data();
  return meaning;
}

export function readStreamIdentifier(reader: Reader): string {
  let name = '';
  while (reader.next()) {
    if (reader.field === 3) name = reader.string();
    else reader.refuse('StreamIdentifier');
  }
  return name;
}

/** Decodes a google.protobuf.Timestamp or Duration into milliseconds. */
function readSeconds(reader: Reader): number {
  let milliseconds = 0;
  while (reader.next()) {
    if (reader.field === 1) milliseconds += Number(BigInt.asIntN(64, reader.uint64())) * 1000;
    else if (reader.field === 2) milliseconds += Number(BigInt.asIntN(64, reader.uint64())) / 1e6;
    else reader.refuse('Timestamp');
  }
  return milliseconds;
}

function readProposed(reader: Reader): ProposedEvent {
  let id = NIL;
  let type = NOTHING;
  let contentType = NOTHING;
  let metadata = NOTHING;
  let data = NOTHING;
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        id = readUuid(reader.message());
        break;
      case 2: {
        const entry = reader.message();
        let key = '';
        let value = NOTHING;
        while (entry.next()) {
          if (entry.field === 1) key = entry.string();
          else if (entry.field === 2) value = entry.data();
          else entry.refuse('MetadataEntry');
        }
        if (key === 'type') type = value;
        else if (key === 'content-type') contentType = value;
        else throw new Malformed(`no such event metadata: "${key.slice(0, 40)}"`);
        break;
      }
      case 3:
        metadata = reader.data();
        break;
      case 4:
        data = reader.data();
        break;
      default:
        reader.refuse('ProposedMessage');
    }
  }
  return { id, type, contentType, metadata, data };
}
