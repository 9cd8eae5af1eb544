/** Asks an event store, embedded or real, for a scavenge and waits until it is done. */

// Required, as in `appending.ts`.
import operations = require('@eventstore/db-client/generated/operations_grpc_pb.js');
import messages = require('@eventstore/db-client/generated/operations_pb.js');

import { UnavailableError } from '../../application/ports/index.js';
import { callStore, translateError } from './call.js';
import { EventStoreDBClient, START } from './driver.js';

export interface ScavengeOutcome {
  readonly scavengeId: string;
  /** `Success`, or else what the server says. */
  readonly result: string;
  /** Bytes. */
  readonly spaceSaved?: number;
  readonly durationMs: number;
}

/** The driver has no scavenge of its own, but shares its channel and credentials with those who derive from it. */
class ScavengingClient extends EventStoreDBClient {
  static open(url: string): ScavengingClient {
    // `connectionString` knows how to read addresses, but only makes plain clients.
    const client = Object.setPrototypeOf(EventStoreDBClient.connectionString(url), ScavengingClient.prototype);
    if (!(client instanceof ScavengingClient)) throw new Error('not the driver that this was written for');
    return client;
  }

  /** Starts a scavenge, or joins the one that is running. */
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
 * `onProgress` is told of every step the server records. Rejects when the server refuses, and with `Unavailable` when it
 * is away or goes.
 */
export async function scavenge(
  url: string,
  options: { onProgress?: (step: string) => void } = {},
): Promise<ScavengeOutcome> {
  const client = ScavengingClient.open(url);
  const started = performance.now();
  try {
    const scavengeId = await callStore(() => client.startScavenge());
    const history = client.subscribeToStream(`$scavenges-${scavengeId}`, { fromRevision: START });
    for await (const { event } of history) {
      if (!event) continue;
      options.onProgress?.(event.type);
      if (event.type !== '$scavengeCompleted') continue;
      const { result, spaceSaved } = outcomeOf(event.data);
      const durationMs = performance.now() - started;
      return { scavengeId, result, durationMs, ...(spaceSaved === undefined ? {} : { spaceSaved }) };
    }
    throw new UnavailableError(`the event store ended the history of scavenge ${scavengeId}`);
  } catch (error) {
    throw translateError(error);
  } finally {
    await client.dispose();
  }
}

function outcomeOf(data: unknown): { result: string; spaceSaved: number | undefined } {
  const facts: Record<string, unknown> = typeof data === 'object' && data !== null ? { ...data } : {};
  const { spaceSaved } = facts;
  return {
    result: String(facts.result),
    spaceSaved: typeof spaceSaved === 'number' ? spaceSaved : undefined,
  };
}
