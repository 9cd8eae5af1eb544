/** Runs a scavenge on an event store, embedded or external, and waits until it is done. */
import { setTimeout } from 'node:timers/promises';

// Loaded with `require`, as in `driver.ts`.
import operations = require('@eventstore/db-client/generated/operations_grpc_pb.js');
import messages = require('@eventstore/db-client/generated/operations_pb.js');

import { callStore, readAll, translateError } from './client.js';
import { EventStoreDBClient, StreamNotFoundError } from './driver.js';

/** Adds a scavenge call to the driver, which shares its channel and credentials with subclasses. */
class ScavengingClient extends EventStoreDBClient {
  static open(url: string): ScavengingClient {
    // `connectionString` parses addresses but creates plain clients only.
    const client = Object.setPrototypeOf(EventStoreDBClient.connectionString(url), ScavengingClient.prototype);
    if (!(client instanceof ScavengingClient)) throw new Error('unsupported version of the event store driver');
    return client;
  }

  /** Starts a scavenge, or returns the running one. */
  startScavenge(): Promise<string> {
    const options = new messages.StartScavengeReq.Options();
    options.setThreadCount(1);
    options.setStartFromChunk(0);
    const request = new messages.StartScavengeReq();
    request.setOptions(options);
    return this.execute(
      operations.OperationsClient,
      'startScavenge',
      (client) =>
        new Promise<string>((resolve, reject) => {
          client.startScavenge(request, ...this.callArguments({}), (error, answer) => {
            if (error) reject(error);
            else resolve(answer.getScavengeId());
          });
        }),
    );
  }
}

/**
 * Runs a scavenge on the server at `url`, a connection string, and follows its history until it is completed.
 * `onProgress` gets every step the server records. Rejects if the server refuses, and with `UnavailableError` if
 * it is unreachable.
 */
export async function scavenge(url: string, options: { onProgress?: (step: string) => void } = {}) {
  const client = ScavengingClient.open(url);
  const started = performance.now();
  try {
    const scavengeId = await callStore(() => client.startScavenge());
    for (let next = 0n; ; await setTimeout(POLL_MS)) {
      for (const event of await readHistory(client, scavengeId, next)) {
        next = event.revision + 1n;
        options.onProgress?.(event.type);
        if (event.type !== '$scavengeCompleted') continue;
        const { result, spaceSaved } = outcomeOf(event.data);
        const durationMs = performance.now() - started;
        return { scavengeId, result, durationMs, ...(spaceSaved === undefined ? {} : { spaceSaved }) };
      }
    }
  } catch (error) {
    throw translateError(error);
  } finally {
    await client.dispose();
  }
}

/** Milliseconds between two looks at the history. */
const POLL_MS = 50;

/** Steps recorded from a revision on; none yet if the history does not exist. */
async function readHistory(client: ScavengingClient, scavengeId: string, fromRevision: bigint) {
  try {
    const read = await readAll(() => client.readStream(`$scavenges-${scavengeId}`, { fromRevision }));
    return read.flatMap(({ event }) => event ?? []);
  } catch (error) {
    if (error instanceof StreamNotFoundError) return [];
    throw error;
  }
}

function outcomeOf(data: unknown): { result: string; spaceSaved: number | undefined } {
  const fields: Record<string, unknown> = typeof data === 'object' && data !== null ? { ...data } : {};
  const { spaceSaved } = fields;
  return {
    result: String(fields.result),
    spaceSaved: typeof spaceSaved === 'number' ? spaceSaved : undefined,
  };
}
