/** Snapshots of folds in MongoDB: in pieces that a document holds, replaced as a whole. */
import { randomUUID } from 'node:crypto';
import { type Db, Long, MongoServerError } from 'mongodb';
import { yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Position } from '../../../application/ports/index.js';
import type { Parts, Snapshots } from '../../../application/subscription/index.js';

/** Says which pieces stand. Among the checkpoints, where what is ahead of a restored log is forgotten. */
interface SnapshotRow {
  readonly _id: string;
  readonly position: Long;
  /** There is no fact more up to here. */
  readonly from: Long;
  readonly fence: Long;
  readonly version: number;
  /** What the names of its pieces begin with. */
  readonly pieces: string;
  readonly count: number;
}

interface Piece {
  readonly _id: string;
  /** A JSON array. */
  readonly text: string;
}

const DUPLICATE_KEY = 11000;
/** Characters of JSON in a piece, unless one part alone is longer: written and read in a few milliseconds. */
const PIECE = 256 * 1024;

const rowOf = (service: string) => `audience:${service}`;
const piecesOf = (service: string, position: Position) => `${service}:${String(position).padStart(20, '0')}:`;

export function createSnapshots(db: Db): Snapshots {
  const rows = db.collection<SnapshotRow>('checkpoints');
  const pieces = db.collection<Piece>('audiences');

  const named = (from: string, to = `${from}~`) => ({ _id: { $gte: from, $lt: to } });

  return {
    async read(service, version) {
      for (let before = ''; ; ) {
        const row = await rows.findOne({ _id: rowOf(service) });
        if (!row || row.version !== version || row.pieces === before) return undefined;
        const found = await pieces.find(named(row.pieces)).sort({ _id: 1 }).toArray();
        const [position, until] = [row.position.toBigInt(), row.from.toBigInt()];
        if (found.length === row.count)
          return { position, until, parts: found.flatMap(({ text }) => JSON.parse(text)) };
        // Another one has just taken its place; or it came out of a backup that has not all of it.
        before = row.pieces;
      }
    },

    async write(service, version, position, parts) {
      const _id = rowOf(service);
      const at = Long.fromBigInt(position);
      const standing = await rows.findOne({ _id });
      if (standing?.position.greaterThan(at)) return false;
      // Made of the same events, it is the same.
      if (standing?.position.equals(at) && standing.version === version) return true;
      const prefix = `${piecesOf(service, position)}${randomUUID()}:`;
      let count = 0;
      for await (const text of textsOf(parts)) {
        await pieces.insertOne({ _id: prefix + String(count++).padStart(6, '0'), text });
        await yieldToEventLoop();
      }
      const before = { $or: [{ position: { $lt: at } }, { position: at, version: { $ne: version } }] };
      const $set = { position: at, from: at, fence: Long.ZERO, version, pieces: prefix, count };
      try {
        await rows.updateOne({ _id, ...before }, { $set }, { upsert: true });
      } catch (error) {
        if (!(error instanceof MongoServerError) || error.code !== DUPLICATE_KEY) throw error;
        // Another node has been quicker.
        await pieces.deleteMany(named(prefix));
        return false;
      }
      await pieces.deleteMany(named(`${service}:`, prefix));
      return true;
    },

    async extend(service, version, position, until) {
      const which = { _id: rowOf(service), version, position: Long.fromBigInt(position) };
      const { matchedCount } = await rows.updateOne(which, { $max: { from: Long.fromBigInt(until) } });
      return matchedCount > 0;
    },
  };
}

async function* textsOf(parts: Parts): AsyncGenerator<string> {
  let some: string[] = [];
  let length = 0;
  for await (const part of parts) {
    const text = JSON.stringify(part);
    if (length > 0 && length + text.length > PIECE) {
      yield `[${some.join()}]`;
      [some, length] = [[], 0];
    }
    some.push(text);
    length += text.length;
  }
  if (some.length > 0) yield `[${some.join()}]`;
}
