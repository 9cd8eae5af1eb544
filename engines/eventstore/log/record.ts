/**
 * Format of a stored event: a fixed header for indexes and filters, the encoded `ReadResp` sent to readers, and a
 * checksum of both. The answer is encoded once, on write: reads encode nothing and filters decode nothing.
 */
import { crc32 } from 'node:zlib';
import { fieldSize, Reader, varintSize, Writer } from '../wire/protobuf.js';
import { formatUuid } from '../wire/uuid.js';

export interface ProposedEvent {
  readonly id: Buffer;
  readonly type: Buffer;
  readonly contentType: Buffer;
  readonly metadata: Buffer;
  readonly data: Buffer;
}

/** Location of an event: its stream, its revision there and its position in the log. */
export interface Place {
  readonly name: Buffer;
  readonly streamNumber: number;
  /** `TOMBSTONE` for the tombstone of a stream. */
  readonly revision: number;
  readonly position: number;
  /** Number of events written to the log before this one, including scavenged ones. */
  readonly ordinal: number;
  /** Unix ms. */
  readonly created: number;
}

/** Represents revision 2^63 - 1, which a number cannot hold. */
export const TOMBSTONE = 2 ** 48 - 1;
const TOMBSTONE_VARINT = Buffer.from('ffffffffffffffff7f', 'hex');

const HEADER = 46;
const STREAM = 0;
const CREATED = 4;
const ORDINAL = 10;
const REVISION = 16;
const ID = 22;
const NAME = 38;
const NAME_LENGTH = 40;
const TYPE = 42;
const TYPE_LENGTH = 44;

const TYPE_KEY = Buffer.from('type');
const CONTENT_TYPE_KEY = Buffer.from('content-type');
const CREATED_KEY = Buffer.from('created');
const UUID_TEXT = 36;
const CHECKSUM = 4;

/** Encodes an event for the log: ReadResp { event: ReadEvent { event: RecordedEvent, commit_position } }. */
export function encodeRecord(event: ProposedEvent, place: Place): Buffer {
  const { name, position } = place;
  const tombstone = place.revision === TOMBSTONE;
  const created = Buffer.from(`${place.created}0000`, 'latin1');
  const idSize = fieldSize(UUID_TEXT);
  const nameSize = fieldSize(name.length);
  const typeSize = fieldSize(TYPE_KEY.length) + fieldSize(event.type.length);
  const contentTypeSize = fieldSize(CONTENT_TYPE_KEY.length) + fieldSize(event.contentType.length);
  const createdSize = fieldSize(CREATED_KEY.length) + fieldSize(created.length);
  const positionSize = 1 + varintSize(position);
  const recordedSize =
    fieldSize(idSize) +
    fieldSize(nameSize) +
    1 +
    (tombstone ? TOMBSTONE_VARINT.length : varintSize(place.revision)) +
    2 * positionSize +
    fieldSize(typeSize) +
    fieldSize(contentTypeSize) +
    fieldSize(createdSize) +
    fieldSize(event.metadata.length) +
    fieldSize(event.data.length);
  const eventSize = fieldSize(recordedSize) + positionSize;

  const out = new Writer(HEADER + fieldSize(eventSize) + CHECKSUM, HEADER);
  const { bytes } = out;
  bytes.writeUInt32LE(place.streamNumber, STREAM);
  bytes.writeUIntLE(place.created, CREATED, 6);
  bytes.writeUIntLE(place.ordinal, ORDINAL, 6);
  bytes.writeUIntLE(place.revision, REVISION, 6);
  event.id.copy(bytes, ID);

  out.open(1, eventSize).open(1, recordedSize);
  out.open(1, idSize).text(2, formatUuid(event.id), UUID_TEXT);
  out.open(2, nameSize).data(3, name);
  bytes.writeUInt16LE(out.at - name.length, NAME);
  bytes.writeUInt16LE(name.length, NAME_LENGTH);
  if (tombstone) out.raw(Buffer.of(3 * 8)).raw(TOMBSTONE_VARINT);
  else out.number(3, place.revision);
  out.number(4, position).number(5, position);
  out.open(6, typeSize).data(1, TYPE_KEY).data(2, event.type);
  bytes.writeUInt16LE(out.at - event.type.length, TYPE);
  bytes.writeUInt16LE(event.type.length, TYPE_LENGTH);
  out.open(6, contentTypeSize).data(1, CONTENT_TYPE_KEY).data(2, event.contentType);
  out.open(6, createdSize).data(1, CREATED_KEY).data(2, created);
  out.data(7, event.metadata).data(8, event.data);
  out.number(3, position);
  const end = bytes.length - CHECKSUM;
  bytes.writeUInt32LE(crc32(bytes.subarray(0, end)), end);
  return bytes;
}

/** Verifies a record's checksum. */
export function isIntact(record: Buffer): boolean {
  const end = record.length - CHECKSUM;
  return crc32(record.subarray(0, end)) === record.readUInt32LE(end);
}

/** Returns the encoded response, not copied. */
export const responseOf = (record: Buffer): Buffer => record.subarray(HEADER, record.length - CHECKSUM);
export const streamNumberOf = (record: Buffer): number => record.readUInt32LE(STREAM);
export const createdOf = (record: Buffer): number => record.readUIntLE(CREATED, 6);
export const ordinalOf = (record: Buffer): number => record.readUIntLE(ORDINAL, 6);
export const revisionOf = (record: Buffer): number => record.readUIntLE(REVISION, 6);
export const hasId = (record: Buffer, id: Buffer): boolean => record.compare(id, 0, 16, ID, ID + 16) === 0;
export const streamNameOf = (record: Buffer): string => text(record, NAME, NAME_LENGTH);
export const eventTypeOf = (record: Buffer): string => text(record, TYPE, TYPE_LENGTH);

function text(record: Buffer, offset: number, length: number): string {
  const start = record.readUInt16LE(offset);
  return record.toString('utf8', start, start + record.readUInt16LE(length));
}

/** Decodes an event's data from its response; used for metadata only. */
export function dataOf(record: Buffer): Buffer {
  const recorded = inside(inside(new Reader(record, HEADER), 1), 1);
  let data: Buffer = Buffer.alloc(0);
  while (recorded.next()) {
    if (recorded.field === 8) data = recorded.data();
    else recorded.skip();
  }
  return data;
}

function inside(reader: Reader, field: number): Reader {
  while (reader.next()) {
    if (reader.field === field) return reader.message();
    reader.skip();
  }
  throw new Error('a record without an event');
}
