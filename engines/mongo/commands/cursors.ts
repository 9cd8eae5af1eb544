/** Holds the clients' open cursors and encodes their batches. */
import { join, longValue, type Named, textValue } from '../bson/encode.js';
import { documentValue, Type } from '../bson/value.js';
import { CommandError } from '../errors.js';
import type { Projection } from '../query/projection.js';
import type { Collection } from '../storage/collection.js';
import type { Connection } from './request.js';
import type { Deadline, Source } from './search.js';

/** True if a cursor stays open. A full batch says nothing about what follows, unless the limit is reached. */
const hasMore = (source: Source, full: boolean): boolean => (full ? !source.satisfied : !source.done);

interface Cursor {
  readonly id: bigint;
  readonly namespace: string;
  /** Undefined for lists that outlive collections. */
  readonly collection: Collection | undefined;
  readonly source: Source;
  readonly projection: Projection | undefined;
  /** Connection that received the last batch. */
  client: Connection | undefined;
  lastUsedAt: number;
  busy: boolean;
}

/** Milliseconds until an unused cursor is closed. */
const IDLE_TIMEOUT_MS = 10 * 60_000;

export interface CursorOptions {
  readonly namespace: string;
  readonly collection: Collection | undefined;
  readonly source: Source;
  readonly projection?: Projection | undefined;
  readonly batchSize: number;
  readonly single?: boolean;
  readonly client?: Connection;
  readonly deadline: Deadline;
}

export class Cursors {
  readonly #open = new Map<bigint, Cursor>();
  /** Starts above int32, so that no client mistakes ids for one. */
  #next = (BigInt(Date.now()) << 20n) | 1n;

  /** Answers with the first batch. If the batch is full, the cursor stays open even when it holds the last document. */
  async open(options: CursorOptions): Promise<Buffer> {
    const { namespace, collection, source, projection, batchSize, client, deadline } = options;
    const batch = await source.take(batchSize, deadline, projection).catch((error) => {
      source.close();
      throw error;
    });
    const open = !options.single && hasMore(source, batch.length >= batchSize);
    const id = open ? this.#next++ : 0n;
    if (open)
      this.#open.set(id, {
        id,
        namespace,
        collection,
        source,
        projection,
        client,
        lastUsedAt: Date.now(),
        busy: false,
      });
    else source.close();
    return cursorAnswer('firstBatch', batch, id, namespace);
  }

  /** Answers with the next batch. Errors: 43 unknown, 13 of another collection, 175 dropped, 12051 in use. */
  async next(
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
    cursor.lastUsedAt = Date.now();
    const open = hasMore(cursor.source, batch.length >= count);
    if (!open) this.kill(id);
    return cursorAnswer('nextBatch', batch, open ? id : 0n, namespace);
  }

  /** Closes a cursor; returns whether it existed. */
  kill(id: bigint): boolean {
    this.#open.get(id)?.source.close();
    return this.#open.delete(id);
  }

  /** Closes a disconnected client's sorting cursors immediately, because other sorts need their memory. */
  releaseClient(client: Connection): void {
    for (const cursor of this.#open.values())
      if (cursor.client === client && cursor.source.isSorting) this.kill(cursor.id);
  }

  /** Closes cursors that have not been used for ten minutes. */
  sweep(now = Date.now()): void {
    for (const cursor of this.#open.values())
      if (!cursor.busy && now - cursor.lastUsedAt > IDLE_TIMEOUT_MS) this.kill(cursor.id);
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
