/** The cursors that clients hold, and the answers that carry their batches. */
import { join, longValue, type Named, textValue } from '../bson/encode.js';
import { documentValue, Type } from '../bson/value.js';
import { CommandError } from '../errors.js';
import type { Projection } from '../query/projection.js';
import type { Collection } from '../storage/collection.js';
import type { Connection } from './request.js';
import type { Deadline, Source } from './search.js';

/** A batch that is full says nothing about what follows, unless the limit is reached. */
const staysOpen = (source: Source, full: boolean): boolean => (full ? !source.satisfied : !source.done);

interface Cursor {
  readonly id: bigint;
  readonly namespace: string;
  /** Absent for lists that outlive collections. */
  readonly collection: Collection | undefined;
  readonly source: Source;
  readonly projection: Projection | undefined;
  readonly keep: boolean;
  /** Whose last batch it was. */
  client: Connection | undefined;
  used: number;
  busy: boolean;
}

/** A cursor not asked for this long is forgotten. */
const FORGET_MS = 10 * 60_000;

export interface Opening {
  readonly namespace: string;
  readonly collection: Collection | undefined;
  readonly source: Source;
  readonly projection?: Projection | undefined;
  readonly batchSize: number;
  readonly single?: boolean;
  readonly keep?: boolean;
  readonly client?: Connection;
  readonly deadline: Deadline;
}

export class Cursors {
  readonly #open = new Map<bigint, Cursor>();
  /** Beyond an int32, so that no client may take ids for one. */
  #next = (BigInt(Date.now()) << 20n) | 1n;

  /** The answer with the first batch. A batch filled to the last document leaves the cursor open. */
  async first(opening: Opening): Promise<Buffer> {
    const { namespace, collection, source, projection, batchSize, client, deadline } = opening;
    const batch = await source.take(batchSize, deadline, projection).catch((error) => {
      source.close();
      throw error;
    });
    const open = !opening.single && staysOpen(source, batch.length >= batchSize);
    const id = open ? this.#next++ : 0n;
    const keep = opening.keep ?? false;
    if (open)
      this.#open.set(id, {
        id,
        namespace,
        collection,
        source,
        projection,
        keep,
        client,
        used: Date.now(),
        busy: false,
      });
    else source.close();
    return cursorAnswer('firstBatch', batch, id, namespace);
  }

  /** The answer with the next batch. Errors: 43 unknown, 13 of another collection, 175 dropped, 12051 in use. */
  async more(
    id: bigint,
    namespace: string,
    batchSize: number | undefined,
    deadline: Deadline,
    client?: Connection,
  ): Promise<Buffer> {
    const cursor = this.#open.get(id);
    if (!cursor) throw new CommandError(43, `cursor id ${id} not found`);
    if (cursor.namespace !== namespace)
      throw new CommandError(
        13,
        `Requested getMore on namespace '${namespace}', but cursor belongs to a different namespace ${cursor.namespace}`,
      );
    if (cursor.busy) throw new CommandError(12051, `cursor id ${id} is already in use`);
    if (cursor.collection?.dropped) {
      this.kill(id);
      throw new CommandError(175, `collection dropped. UUID ${cursor.collection.uuid.toString('hex')}`);
    }
    cursor.busy = true;
    cursor.client = client;
    const count = batchSize ?? Number.POSITIVE_INFINITY;
    const batch = await cursor.source.take(count, deadline, cursor.projection).catch((error) => {
      this.kill(id);
      throw error;
    });
    cursor.busy = false;
    cursor.used = Date.now();
    const open = staysOpen(cursor.source, batch.length >= count);
    if (!open) this.kill(id);
    return cursorAnswer('nextBatch', batch, open ? id : 0n, namespace);
  }

  /** Whether there was such a cursor. */
  kill(id: bigint): boolean {
    this.#open.get(id)?.source.close();
    return this.#open.delete(id);
  }

  /** Its connection has gone: what was sorted for it goes at once, for others wait for the room. */
  leave(client: Connection): void {
    for (const cursor of this.#open.values())
      if (cursor.client === client && cursor.source.isSorting) this.kill(cursor.id);
  }

  /** Forgets what has not been asked for in ten minutes. */
  sweep(now = Date.now()): void {
    for (const cursor of this.#open.values())
      if (!cursor.keep && !cursor.busy && now - cursor.used > FORGET_MS) this.kill(cursor.id);
  }

  get size(): number {
    return this.#open.size;
  }
}

function cursorAnswer(field: string, batch: readonly Buffer[], id: bigint, namespace: string): Buffer {
  const array = join(batch.map((document, i): Named => [String(i), documentValue(document)]));
  const cursor = join([
    [field, { type: Type.array, bytes: array, start: 0, end: array.length }],
    ['id', longValue(id)],
    ['ns', textValue(namespace)],
  ]);
  return join([['cursor', documentValue(cursor)]]);
}
