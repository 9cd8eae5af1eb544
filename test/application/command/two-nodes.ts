/** Two nodes on one log: on the servers, or in memory within a millisecond. */
import { randomUUID } from 'node:crypto';
import { startServers } from '@annals/engines/testing/engines.js';
import type { AggregateStore } from '../../../application/command/aggregate.js';
import type { HandleCommand } from '../../../application/command/handle-command.js';
import type { DecryptEvent, EventLog } from '../../../application/ports/index.js';
import type { CachingVault } from '../../../application/secrets/vault.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { startToys, toys } from '../../support/toy-service.js';

/** What a node needs to handle a command. */
export interface Road {
  readonly handle: HandleCommand;
  readonly aggregates: AggregateStore;
  readonly log: EventLog;
  readonly vault: CachingVault;
  readonly decryptEvent: DecryptEvent;
}

export interface Roads {
  readonly one: Road;
  readonly other: Road;
  stop(): Promise<void>;
}

export type StartRoads = () => Promise<Roads>;

/** One node for all tests of a `describe`. */
export function useRoad(start: StartRoads): Road {
  const road = {} as { -readonly [part in keyof Road]: Road[part] };
  let stop: (() => Promise<void>) | undefined;
  before(async () => {
    const started = await start();
    stop = started.stop;
    Object.assign(road, started.one);
  });
  after(() => stop?.());
  return road;
}

export const onServers: StartRoads = async () => {
  const servers = await startServers();
  const database = `test_${randomUUID().slice(0, 8)}`;
  const [one, other] = await Promise.all([startToys(servers, database), startToys(servers, database)]);
  return {
    one,
    other,
    async stop() {
      await Promise.all([one.close(), other.close()]);
      await servers.stop();
    },
  };
};

export const inMemory: StartRoads = async () => {
  const world = memoryWorld();
  return { one: memoryKernel(world, [toys]), other: memoryKernel(world, [toys]), stop: async () => {} };
};
