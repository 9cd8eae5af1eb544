/** The meeting service on nodes in the process of the test, over servers of their own. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { roomAggregate } from '../../application/meeting/aggregates.js';
import type { Kernel } from '../../bin/node/kernel.js';
import { meeting } from '../../bin/services/meeting.js';
import { meetingSubject } from '../../domain/meeting/catalog.js';
import type { RoomCommand } from '../../domain/meeting/commands.js';
import { roomStream } from '../../domain/meeting/state.js';
import { isRejection } from '../../domain/shared/decider.js';
import { type HttpSpec, httpSpec } from './http-spec.js';
import { type RunningNode, startNode } from './node.js';
import { type ServiceKernel, startServiceKernel } from './test-kernel.js';

export interface MeetingNodes extends HttpSpec {
  /** URL of the first node. */
  readonly base: string;
  /** URLs of all nodes. */
  readonly bases: readonly string[];
  /** Starts another node on the same servers until the end of the tests. */
  start(more?: Flags): Promise<string>;
  /** Stops the node with this index. */
  stop(at: number): Promise<void>;
  /** Runs commands on rooms as another node would. */
  act(...commands: readonly RoomCommand[]): Promise<void>;
  /** The kernel of that other node. */
  observer(): Promise<Kernel>;
}

type Flags = { readonly [flag: string]: string };

/** No rate limits: they have their own tests. */
const PLENTY = {
  '--meeting-create-per-minute': '100000',
  '--meeting-connect-per-minute': '100000',
  '--meeting-unknown-per-minute': '100000',
};

/** To be called within `describe`: for all of its tests. `flags` are the settings of every node. */
export function useMeeting(flags: Flags = {}, count = 1): MeetingNodes {
  let servers: Servers;
  const running: RunningNode[] = [];
  const database = `test_${randomUUID().slice(0, 8)}`;
  const start = async (more: Flags = {}) => {
    const all = { ...PLENTY, '--meeting-port': '0', '--mongo-database': database, ...flags, ...more };
    const node = await startNode([meeting], { servers, flags: all });
    running.push(node);
    return node.url('meeting');
  };
  before(async () => {
    servers = await startServers();
    for (let n = 0; n < count; n++) await start();
  });
  let observer: Promise<ServiceKernel> | undefined;
  const observed = () => {
    observer ??= startServiceKernel({ servers, database, catalog: meeting.catalog, projections: [] });
    return observer.then(({ kernel }) => kernel);
  };
  after(async () => {
    await (await observer)?.stop([]);
    for (const node of running) await node.stop();
    await servers?.stop();
  });
  const base = () => running[0]?.url('meeting') ?? '';
  return {
    ...httpSpec(base),
    get base() {
      return base();
    },
    get bases() {
      return running.map((node) => node.url('meeting'));
    },
    start,
    stop: (at) => running[at]!.stop(),
    observer: observed,
    async act(...commands) {
      const { handle, vault, systemContext } = await observed();
      for (const command of commands) {
        const meetingId = command.type === 'JoinRoom' ? command.opening?.meetingId : undefined;
        if (meetingId) await vault.create(meetingSubject({ meetingId }));
        const outcome = await handle(roomAggregate, roomStream(command.roomId), command, systemContext('test'));
        if (isRejection(outcome)) throw new Error(`${command.type}: ${outcome.rejected}`);
      }
    },
  };
}
