/** Helpers for tests that use an event store through the real driver. */
import { randomUUID } from 'node:crypto';
import { type EventData, EventStoreDBClient, jsonEvent, type ResolvedEvent } from '@eventstore/db-client';
import { type EventStoreServer, eventStoreServer, ownEventStoreServer } from './eventstore.js';

/** Provides a server and a client to all tests of one `describe`. */
export const useEventStore = () => useStore(eventStoreServer);

/** Same with an embedded engine in its own process, which tests may kill. */
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

/** Returns a new, unique stream name. */
export const freshStream = (category = 'contract'): string => `${category}.stream-${randomUUID()}`;

/** Creates a JSON event that carries a number. */
export const numberedEvent = (n: number, type = 'Numbered'): EventData => jsonEvent({ type, data: { n } });

export const numberedEvents = (first: number, count: number): EventData[] =>
  Array.from({ length: count }, (_, i) => numberedEvent(first + i));

/** Collects all items of an iterable. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** Numbers of the events of a read. */
export const numbersOf = async (events: AsyncIterable<ResolvedEvent>): Promise<number[]> =>
  (await collect(events)).map(numberOf);

export const numberOf = ({ event }: ResolvedEvent): number =>
  typeof event?.data === 'object' && 'n' in event.data ? Number(event.data.n) : Number.NaN;

/** Collects the first `count` items without waiting for the rest. */
export async function take<T>(items: AsyncIterable<T>, count: number): Promise<T[]> {
  const collected: T[] = [];
  if (count === 0) return collected;
  for await (const item of items) {
    collected.push(item);
    if (collected.length === count) break;
  }
  return collected;
}

/** Returns the error that a promise rejects with; fails if it resolves. */
export async function rejection(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error('was expected to fail, and succeeded');
}
