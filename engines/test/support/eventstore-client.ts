/** Small words for tests that talk to an event store through the real driver. */
import { randomUUID } from 'node:crypto';
import { type EventData, EventStoreDBClient, jsonEvent, type ResolvedEvent } from '@eventstore/db-client';
import { type EventStoreServer, eventStoreServer, ownEventStoreServer } from './eventstore.js';

/** A server and a client for all tests of one `describe`. */
export const useEventStore = () => useStore(eventStoreServer);

/** The same with a process of its own, where the engine is embedded: tests may kill it. */
export const useOwnEventStore = () => useStore(ownEventStoreServer);

function useStore<Server extends EventStoreServer>(
  start: () => Promise<Server>,
): { readonly server: Server; readonly client: EventStoreDBClient } {
  let server: Server;
  let client: EventStoreDBClient;
  before(async () => {
    server = await start();
    client = EventStoreDBClient.connectionString(server.url);
  });
  after(async () => {
    await client.dispose();
    await server.stop();
  });
  return {
    get server() {
      return server;
    },
    get client() {
      return client;
    },
  };
}

/** A stream name nobody has used. */
export const freshStream = (category = 'contract'): string => `${category}.stream-${randomUUID()}`;

/** A JSON event that carries a number. */
export const numbered = (n: number, type = 'Numbered'): EventData => jsonEvent({ type, data: { n } });

export const numberedFrom = (first: number, count: number): EventData[] =>
  Array.from({ length: count }, (_, i) => numbered(first + i));

/** Everything an iterable gives. */
export async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** The numbers of the events of a read. */
export const numbersOf = async (events: AsyncIterable<ResolvedEvent>): Promise<number[]> =>
  (await all(events)).map(numberOf);

export const numberOf = ({ event }: ResolvedEvent): number =>
  typeof event?.data === 'object' && 'n' in event.data ? Number(event.data.n) : Number.NaN;

/** The first `count` items; the rest is not waited for. */
export async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const collected: T[] = [];
  if (count === 0) return collected;
  for await (const item of items) {
    collected.push(item);
    if (collected.length === count) break;
  }
  return collected;
}

/** What a promise is rejected with; it is an error when it is not. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('was expected to fail, and succeeded');
}
