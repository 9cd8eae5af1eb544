/** Decodes requests of `Streams/Read`, both reads and subscriptions. */
import { Malformed, Reader } from './protobuf.js';
import { readEmpty, readStreamIdentifier } from './requests.js';
import { GrpcError, Status } from './status.js';

export interface Position {
  readonly commit: bigint;
  readonly prepare: bigint;
}

export type Source =
  | { readonly stream: string; readonly from: bigint | 'start' | 'end' }
  | { readonly stream?: undefined; readonly from: Position | 'start' | 'end' };

export interface FilterRequest {
  readonly on: 'stream' | 'type';
  /** A name matches if it starts with one of them. */
  readonly prefixes: readonly string[];
  /** Events of the log per checkpoint. */
  readonly checkpointInterval: number;
}

export interface ReadRequest {
  readonly source: Source;
  readonly backwards: boolean;
  /** Maximum events; undefined for a subscription. */
  readonly count: bigint | undefined;
  readonly filter: FilterRequest | undefined;
}

export function decodeRead(bytes: Buffer): ReadRequest {
  const reader = new Reader(bytes);
  let request: ReadRequest | undefined;
  while (reader.next()) {
    if (reader.field === 1) request = readOptions(reader.message());
    else reader.refuse('ReadReq');
  }
  if (!request) throw new Malformed('a ReadReq without options');
  return request;
}

function readOptions(reader: Reader): ReadRequest {
  let source: Source | undefined;
  let backwards = false;
  let count: bigint | undefined;
  let subscription = false;
  let filter: FilterRequest | undefined;
  while (reader.next()) {
    switch (reader.field) {
      case 1:
        source = readStreamSource(reader.message());
        break;
      case 2:
        source = readAllSource(reader.message());
        break;
      case 3:
        backwards = reader.boolean();
        break;
      case 4:
        if (reader.boolean()) throw unimplemented('resolving links');
        break;
      case 5:
        count = reader.uint64();
        break;
      case 6:
        subscription = readEmpty(reader, true);
        count = undefined;
        break;
      case 7:
        filter = readFilter(reader.message());
        break;
      case 8:
        filter = readEmpty(reader, undefined);
        break;
      case 9:
        readUuidOption(reader.message());
        break;
      default:
        reader.refuse('ReadReq.Options');
    }
  }
  if (!source || (count === undefined && !subscription)) throw new Malformed('a read needs a source and a count');
  if (subscription && backwards) throw new Malformed('a subscription goes forwards');
  if (filter && source.stream !== undefined) throw new Malformed('a filter is for $all');
  if (filter && !subscription) throw unimplemented('a filter on a read');
  return { source, backwards, count, filter };
}

const unimplemented = (feature: string): GrpcError =>
  new GrpcError(Status.UNIMPLEMENTED, `This engine does not implement ${feature}.`);

function readStreamSource(reader: Reader): Source {
  let stream = '';
  let from: bigint | 'start' | 'end' = 'start';
  while (reader.next()) {
    if (reader.field === 1) stream = readStreamIdentifier(reader.message());
    else if (reader.field === 2) from = reader.uint64();
    else if (reader.field === 3) from = readEmpty(reader, 'start');
    else if (reader.field === 4) from = readEmpty(reader, 'end');
    else reader.refuse('StreamOptions');
  }
  return { stream, from };
}

function readAllSource(reader: Reader): Source {
  let from: Position | 'start' | 'end' = 'start';
  while (reader.next()) {
    if (reader.field === 1) from = readPosition(reader.message());
    else if (reader.field === 2) from = readEmpty(reader, 'start');
    else if (reader.field === 3) from = readEmpty(reader, 'end');
    else reader.refuse('AllOptions');
  }
  return { from };
}

function readPosition(reader: Reader): Position {
  let commit = 0n;
  let prepare = 0n;
  while (reader.next()) {
    if (reader.field === 1) commit = reader.uint64();
    else if (reader.field === 2) prepare = reader.uint64();
    else reader.refuse('Position');
  }
  return { commit, prepare };
}

function readUuidOption(reader: Reader): void {
  while (reader.next()) {
    if (reader.field === 1) throw unimplemented('structured ids in answers');
    if (reader.field !== 2) reader.refuse('UUIDOption');
    reader.data();
  }
}

const DEFAULT_WINDOW = 32;

function readFilter(reader: Reader): FilterRequest {
  let on: FilterRequest['on'] | undefined;
  let prefixes: readonly string[] = [];
  let window = DEFAULT_WINDOW;
  let multiplier = 0;
  while (reader.next()) {
    switch (reader.field) {
      case 1:
      case 2:
        on = reader.field === 1 ? 'stream' : 'type';
        prefixes = readPrefixes(reader.message());
        break;
      case 3:
        window = reader.number();
        break;
      case 4:
        window = readEmpty(reader, DEFAULT_WINDOW);
        break;
      case 5:
        multiplier = reader.number();
        break;
      default:
        reader.refuse('FilterOptions');
    }
  }
  if (!on) throw new Malformed('a filter without an expression');
  if (window === 0 || multiplier === 0) throw new Malformed('a filter needs a window and a checkpoint interval');
  return { on, prefixes, checkpointInterval: window * multiplier };
}

/**
 * Regular expressions are refused: .NET and JavaScript interpret them differently, and a hostile one blocks the
 * engine.
 */
function readPrefixes(reader: Reader): string[] {
  const prefixes: string[] = [];
  while (reader.next()) {
    if (reader.field === 1) throw unimplemented('regular expressions as filters');
    if (reader.field !== 2) reader.refuse('Expression');
    prefixes.push(reader.string());
  }
  if (prefixes.length === 0) throw new Malformed('a filter without prefixes');
  return prefixes;
}
