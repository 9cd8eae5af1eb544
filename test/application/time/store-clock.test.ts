/** A node with a wrong clock: nothing expires too early, timestamps are right, and it recovers. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createRetention } from '../../../application/logs/retention/expire-records.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { runPeriodically } from '../../../application/subscription/leader-election.js';
import { createStoreClock } from '../../../application/time/store-clock.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import { RETENTION_STREAM } from '../../../domain/logs/retention.js';
import { roomStream } from '../../../domain/rooms/room.js';
import { fakeClock } from '../../support/fake-clock.js';
import { type LogsNode, startLogsNode } from '../../support/log-node.js';
import { type Node, startNode } from '../rooms/node.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

describe('a wrong local clock', () => {
  const rightNow = Date.now;
  const shiftClock = (ms: number) => {
    Date.now = () => rightNow() + ms;
  };
  const resetClock = () => {
    Date.now = rightNow;
  };
  let servers: Servers;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  afterEach(resetClock);

  describe('in the room service', () => {
    let node: Node;
    beforeEach(async () => {
      node = await startNode(servers, `test_${randomUUID().slice(0, 8)}`);
      await node.kernel.clock.compare();
    });
    afterEach(() => node?.stop());

    const factsOf = async (roomId: string) => {
      const events = await node.kernel.log.read(roomStream(roomId));
      return typeof events === 'string' ? [] : events.map(({ type }) => type);
    };
    const settled = async (roomId: string) => {
      const { kernel } = node;
      expect(
        await kernel.projectionProgress.wait('rooms.state', kernel.projectionProgress.latest([roomStream(roomId)])),
      ).to.equal(true);
    };

    it('does not expire rooms early, and still authenticates participants', async () => {
      const room = await node.create('Ada');
      await settled(room.roomId);
      shiftClock(30 * DAY_MS);
      await node.sweep();
      expect(await factsOf(room.roomId)).not.to.include('RoomExpired');
      expect(await node.admitted(room)).to.have.property('roomId', room.roomId);
    });

    it('expires rooms after it is corrected', async () => {
      const room = await node.create('Ada', 1);
      await settled(room.roomId);
      await eventually(() => rightNow() > Date.parse(room.expiresAt));
      for (const ms of [30 * DAY_MS, -30 * DAY_MS]) {
        shiftClock(ms);
        await node.sweep();
        expect(await factsOf(room.roomId)).not.to.include('RoomExpired');
      }
      resetClock();
      await node.sweep();
      expect(await factsOf(room.roomId)).to.include('RoomExpired');
    });

    it('does not extend the lifetime of new rooms', async () => {
      shiftClock(30 * DAY_MS);
      const { expiresAt } = await node.create('Ada', HOUR_MS);
      expect(Date.parse(expiresAt)).to.be.closeTo(rightNow() + HOUR_MS, 60_000);
    });
  });

  it('does not expire log records early, and does after it is corrected', async () => {
    const node: LogsNode = await startLogsNode(servers, `test_${randomUUID().slice(0, 8)}`);
    try {
      const { handle, log, clock, systemContext: context }: Kernel = node.kernel;
      const { receivedBefore } = node.receipts;
      const runRetention = createRetention({ handle, clock, days: 30, auditDays: 365, receivedBefore, context });
      // The clock was never compared before: it has been wrong from the start.
      shiftClock(40 * DAY_MS);
      await runRetention();
      expect(await log.read(RETENTION_STREAM)).to.equal('missing');
      resetClock();
      await runRetention();
      const facts = await log.read(RETENTION_STREAM);
      expect(facts).to.have.length(1).and.have.nested.property('[0].type', 'RecordsExpired');
    } finally {
      await node.stop();
    }
  });

  it('makes the node leave scheduled jobs to other nodes', async () => {
    const { kernel, stop: stopNode } = await startNode(servers, `test_${randomUUID().slice(0, 8)}`);
    const stop = new AbortController();
    let allowed = true;
    let rounds = 0;
    const run = async () => void rounds++;
    const common = { name: 'rooms.test', everyMs: 1, run, logger: silentLogger, signal: stop.signal };
    const running = runPeriodically({ ...common, leases: kernel.leases, mayRun: () => allowed });
    await eventually(() => rounds > 0);
    allowed = false;
    await eventually(async () => (await kernel.leases.holder('periodic:rooms.test')) === undefined);
    rounds = 0;
    allowed = true;
    await eventually(() => rounds > 0);
    stop.abort();
    await running;
    await stopNode();
  });
});

describe('the store clock', () => {
  const start = 1_800_000_000_000;
  const minutes = (n: number) => n * 60_000;

  function fixture() {
    const [local, store, monotonic] = [fakeClock(start), fakeClock(start), fakeClock(0)];
    const logged: string[] = [];
    let queries = 0;
    const note = (_: object, message: string) => void logged.push(message);
    const clock = createStoreClock({
      queryTime: async () => {
        queries++;
        return store.now();
      },
      logger: { ...silentLogger, warn: note, info: note },
      clock: local,
      monotonic: monotonic,
    });
    return {
      ...{ local, store, monotonic, clock, logged },
      queries: () => queries,
      pass: (ms: number) => {
        for (const each of [local, store, monotonic]) each.pass(ms);
      },
    };
  }

  it('follows the local clock while it is close to that of the store or not compared yet', async () => {
    const { local, clock, logged } = fixture();
    local.pass(minutes(60));
    expect(clock.now()).to.equal(start + minutes(60));
    expect(clock.inSync()).to.equal(true);
    local.pass(-minutes(59));
    await clock.compare();
    expect(clock.now()).to.equal(start + minutes(1));
    expect(clock.skewMs()).to.equal(minutes(1));
    expect(await clock.confirmedNow(), 'the earlier of both clocks').to.equal(start);
    expect(logged).to.deep.equal([]);
  });

  for (const ahead of [60, -60]) {
    it(`ignores a local clock shifted by ${ahead} minutes, and logs that once`, async () => {
      const { local, store, pass, clock, logged } = fixture();
      await clock.compare();
      local.pass(minutes(ahead));
      pass(1000);
      expect([clock.now(), clock.now(), clock.inSync()]).to.deep.equal([store.now(), store.now(), false]);
      expect(clock.skewMs()).to.equal(minutes(ahead));
      expect(await clock.confirmedNow()).to.equal(undefined);
      expect(logged)
        .to.have.length(1)
        .and.match(/differ by more than 2 minutes/);
      local.pass(-minutes(ahead));
      expect([clock.now(), await clock.confirmedNow()]).to.deep.equal([store.now(), store.now()]);
      expect(logged)
        .to.have.length(2)
        .and.match(/agree again/);
    });
  }

  it('follows the local clock again after the machine slept, once the store was queried', async () => {
    const { local, store, clock, monotonic } = fixture();
    await clock.compare();
    for (const each of [local, store]) each.pass(minutes(600));
    monotonic.pass(minutes(2));
    expect(clock.inSync()).to.equal(false);
    await eventually(() => clock.inSync());
    expect(clock.now()).to.equal(local.now());
    expect(await clock.confirmedNow()).to.equal(store.now());
  });

  it('follows a local clock that was shifted together with that of the store', async () => {
    const { local, store, pass, clock } = fixture();
    const answered = () => new Promise(setImmediate);
    await clock.compare();
    for (const ahead of [60, -60, 120]) {
      for (const each of [local, store]) each.pass(minutes(ahead));
      pass(2000);
      expect(clock.inSync()).to.equal(false);
      await answered();
      expect([clock.inSync(), clock.now()]).to.deep.equal([true, local.now()]);
    }
    local.pass(minutes(60));
    pass(2000);
    expect(clock.inSync()).to.equal(false);
    await answered();
    for (const each of [local, store]) each.pass(minutes(-30));
    pass(2000);
    expect(clock.inSync()).to.equal(false);
    await answered();
    expect([clock.inSync(), clock.now()]).to.deep.equal([false, store.now()]);
  });

  it('queries an unavailable store at most once a second', async () => {
    let isAway = false;
    let queries = 0;
    const [local, monotonic] = [fakeClock(start), fakeClock(0)];
    const queryTime = async () => {
      queries++;
      if (isAway) throw new UnavailableError('away');
      return start;
    };
    const clock = createStoreClock({ queryTime, logger: silentLogger, clock: local, monotonic: monotonic });
    await clock.compare();
    isAway = true;
    local.pass(minutes(60));
    for (let half = 0; half < 10; half++) {
      monotonic.pass(501);
      clock.inSync();
      await new Promise(setImmediate);
    }
    expect(queries).to.equal(6);
  });

  it('queries the store for every confirmed time, but at most once a minute while the clocks differ', async () => {
    const { local, pass, clock, queries } = fixture();
    for (const times of [1, 2, 3]) {
      await clock.confirmedNow();
      expect(queries()).to.equal(times);
    }
    local.pass(minutes(60));
    // One query when the clock was shifted.
    pass(2000);
    clock.now();
    for (let seconds = 0; seconds < 59; seconds++) {
      clock.now();
      await clock.confirmedNow();
      pass(1000);
    }
    expect(queries()).to.equal(4);
    pass(2000);
    clock.now();
    clock.now();
    await clock.confirmedNow();
    expect(queries()).to.equal(5);
  });

  it('has no confirmed time while the store is unavailable', async () => {
    const queryTime = () => Promise.reject(new UnavailableError('away'));
    const clock = createStoreClock({ queryTime, logger: silentLogger });
    const outcome = await clock.confirmedNow().catch((error) => error);
    expect(outcome).to.be.instanceOf(UnavailableError);
    expect(clock.inSync()).to.equal(true);
  });
});
