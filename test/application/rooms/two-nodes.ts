/** Two nodes of the rooms over the same servers, whose appends can be held until both have decided, fail, or be lost. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { signingPublicKey } from '../../support/room-fixtures.js';
import { context } from '../../support/toy-service.js';
import { type Node, startNode } from './node.js';

/** A command under a key; `body` tells two requests apart. */
export const keyed = (key: string, body: string) => context(key, `fingerprint of ${body}`);
export const newcomer = (name: string) => ({ name, signingPublicKey });

export async function fails(): Promise<never> {
  throw new UnavailableError('not taken');
}

export interface TwoNodes {
  readonly one: Node;
  readonly other: Node;
  /** So many keyed appends are let through together: all have decided on the same state then. */
  awaitAppends(count: number): void;
  /** What becomes of the next appends of the first node, and of the next times that it bounds a stream. */
  readonly appends: EventLog['append'][];
  readonly retained: EventLog['retain'][];
  /** The first node's clock goes ahead so far, ms. */
  goAhead(ms: number): void;
}

/** Lets keyed appends through only when as many as are awaited have come: all have decided on the same state then. */
function gate() {
  let awaited = 1;
  let held: (() => void)[] = [];
  const log = (inner: EventLog): Partial<EventLog> => ({
    async append(stream, expected, events) {
      if (events[0]?.metadata.fingerprint) {
        await new Promise<void>((resolve) => {
          held.push(resolve);
          if (held.length < awaited) return;
          for (const release of held) release();
          held = [];
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

/** To be called within `describe`: for all of its tests; faults and clocks end with each. */
export function useTwoNodes(): TwoNodes {
  let servers: Servers;
  let one: Node;
  let other: Node;
  let ahead = 0;
  const held = gate();
  const appends: EventLog['append'][] = [];
  const retained: EventLog['retain'][] = [];
  const faulty = (inner: EventLog): Partial<EventLog> => ({
    append: (...args) => (appends.shift() ?? inner.append)(...args),
    retain: (...args) => (retained.shift() ?? inner.retain)(...args),
  });

  before(async () => {
    servers = await startServers();
    const database = `test_${randomUUID().slice(0, 8)}`;
    // The clocks of two nodes never agree: an answer of the second's own making would show.
    one = await startNode(servers, database, { now: () => Date.now() + ahead }, (log) => ({
      ...log,
      ...faulty({ ...log, ...held.log(log) }),
    }));
    other = await startNode(servers, database, { now: () => Date.now() + 1234 }, held.log);
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
    awaitAppends: held.expect,
    appends,
    retained,
    goAhead(ms) {
      ahead = ms;
    },
  };
}
