/** Two room nodes on the same servers, with appends that can be delayed until both have decided, or fail. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { signingPublicKey } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { type Node, startNode } from './node.js';

/** The context of a command with an idempotency key; `body` distinguishes two requests. */
export const withKey = (key: string, body: string) => context(key, `fingerprint of ${body}`);
export const newcomer = (name: string) => ({ name, signingPublicKey });

export async function fails(): Promise<never> {
  throw new UnavailableError('not appended');
}

export interface TwoNodes {
  readonly one: Node;
  readonly other: Node;
  /** Delays appends with a key until that many are pending, so that all have decided on the same state. */
  awaitAppends(count: number): void;
  /** Replacements of the next appends and retentions of the first node. */
  readonly appends: EventLog['append'][];
  readonly retained: EventLog['retain'][];
  /** Moves the clock of the first node ahead, in ms. */
  goAhead(ms: number): void;
}

/** Delays appends with a key until the expected number is pending, so that all have decided on the same state. */
function gate() {
  let awaited = 1;
  let appendGate: (() => void)[] = [];
  const log = (inner: EventLog): Partial<EventLog> => ({
    async append(stream, expected, events) {
      if (events[0]?.metadata.fingerprint) {
        await new Promise<void>((resolve) => {
          appendGate.push(resolve);
          if (appendGate.length < awaited) return;
          for (const release of appendGate) release();
          appendGate = [];
          awaited = 1;
        });
      }
      return inner.append(stream, expected, events);
    },
  });
  return {
    log,
    expect: (count: number) => {
      awaited = count;
    },
  };
}

/** Starts two nodes for all tests of a `describe`; faults and clocks are reset after each. */
export function useTwoNodes(): TwoNodes {
  let servers: Servers;
  let one: Node;
  let other: Node;
  let ahead = 0;
  const appendGate = gate();
  const appends: EventLog['append'][] = [];
  const retained: EventLog['retain'][] = [];
  const faulty = (inner: EventLog): Partial<EventLog> => ({
    append: (...args) => (appends.shift() ?? inner.append)(...args),
    retain: (...args) => (retained.shift() ?? inner.retain)(...args),
  });

  before(async () => {
    servers = await startServers();
    const database = `test_${randomUUID().slice(0, 8)}`;
    // The clocks of the nodes differ, so that an answer computed on the second node would show.
    one = await startNode(servers, database, { now: () => Date.now() + ahead }, (log) => ({
      ...log,
      ...faulty({ ...log, ...appendGate.log(log) }),
    }));
    other = await startNode(servers, database, { now: () => Date.now() + 1234 }, appendGate.log);
  });
  after(async () => {
    await Promise.all([one?.stop(), other?.stop()]);
    await servers?.stop();
  });
  afterEach(() => {
    for (const faults of [appends, retained]) faults.length = 0;
    ahead = 0;
  });

  return {
    get one() {
      return one;
    },
    get other() {
      return other;
    },
    awaitAppends: appendGate.expect,
    appends,
    retained,
    goAhead(ms) {
      ahead = ms;
    },
  };
}
