/** Stores snapshots of folded state: split into documents, replaced as a whole. */
import { randomUUID } from 'node:crypto';
import { type Db, Long } from 'mongodb';
import { yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Position } from '../../../application/ports/index.js';
import type { Parts, Snapshots } from '../../../application/subscription/index.js';
import { isDuplicateKey } from '../call-policy.js';

/** Header of a snapshot. Kept with the checkpoints, which are reset when they are ahead of a restored log. */
interface SnapshotRow {
  readonly _id: string;
  readonly position: Long;
  /** The fold does not change up to this position. */
  readonly from: Long;
  readonly fence: Long;
  readonly version: number;
  readonly pieces: string;
  readonly count: number;
}

interface Piece {
  readonly _id: string;
  /** A JSON array. */
  readonly text: string;
}

/** JSON characters per piece, unless a single part is longer. Takes a few milliseconds to write or read. */
const PIECE_CHARACTERS = 256 * 1024;

const rowOf = (service: string) => `audience:${service}`;
const piecesOf = (service: string, position: Position) => `${service}:${String(position).padStart(20, '0')}:`;

export function createSnapshots(db: Db): Snapshots {
  const rows = db.collection<SnapshotRow>('checkpoints');
  const pieces = db.collection<Piece>('audiences');

  const withPrefix = (from: string, to = `${from}~`) => ({ _id: { $gte: from, $lt: to } });

  return {
    async read(service, version) {
      for (let previousPrefix = ''; ; ) {
        const row = await rows.findOne({ _id: rowOf(service) });
        if (!row || row.version !== version || row.pieces === previousPrefix) return undefined;
        const found = await pieces.find(withPrefix(row.pieces)).sort({ _id: 1 }).toArray();
        const [position, until] = [row.position.toBigInt(), row.from.toBigInt()];
        if (found.length === row.count)
          return { position, until, parts: found.flatMap(({ text }) => JSON.parse(text)) };
        // Replaced while it was read, or restored from an incomplete backup.
        previousPrefix = row.pieces;
      }
    },

    async write(service, version, position, parts) {
      const _id = rowOf(service);
      const newPosition = Long.fromBigInt(position);
      const current = await rows.findOne({ _id });
      if (current?.position.greaterThan(newPosition)) return false;
      // The same events give the same snapshot.
      if (current?.position.equals(newPosition) && current.version === version) return true;
      const prefix = `${piecesOf(service, position)}${randomUUID()}:`;
      let count = 0;
      for await (const text of serializeParts(parts)) {
        await pieces.insertOne({ _id: prefix + String(count++).padStart(6, '0'), text });
        await yieldToEventLoop();
      }
      const outdated = {
        $or: [{ position: { $lt: newPosition } }, { position: newPosition, version: { $ne: version } }],
      };
      const $set = { position: newPosition, from: newPosition, fence: Long.ZERO, version, pieces: prefix, count };
      try {
        await rows.updateOne({ _id, ...outdated }, { $set }, { upsert: true });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        await pieces.deleteMany(withPrefix(prefix));
        return false;
      }
      await pieces.deleteMany(withPrefix(`${service}:`, prefix));
      return true;
    },

    async extend(service, version, position, until) {
      const filter = { _id: rowOf(service), version, position: Long.fromBigInt(position) };
      const { matchedCount } = await rows.updateOne(filter, { $max: { from: Long.fromBigInt(until) } });
      return matchedCount > 0;
    },
  };
}

async function* serializeParts(parts: Parts): AsyncGenerator<string> {
  let buffer: string[] = [];
  let length = 0;
  for await (const part of parts) {
    const text = JSON.stringify(part);
    if (length > 0 && length + text.length > PIECE_CHARACTERS) {
      yield `[${buffer.join()}]`;
      [buffer, length] = [[], 0];
    }
    buffer.push(text);
    length += text.length;
  }
  if (buffer.length > 0) yield `[${buffer.join()}]`;
}
