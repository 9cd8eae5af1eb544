/** A node whose clock is wrong: it ends nothing, and what it stamps is true; right again, it goes on. */
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

describe('a clock that is wrong', () => {
  const rightNow = Date.now;
  const setBy = (ms: number) => {
    Date.now = () => rightNow() + ms;
  };
  const isRight = () => {
    Date.now = rightNow;
  };
  let servers: Servers;

  before(async () => {
    servers = await startServers();
  });
  after(() => servers?.stop());
  afterEach(isRight);

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

    it('ends no room before its time, and lets people in as before', async () => {
      const room = await node.create('Ada');
      await settled(room.roomId);
      setBy(30 * DAY_MS);
      await node.sweep();
      expect(await factsOf(room.roomId)).not.to.include('RoomExpired');
      expect(await node.admitted(room)).to.have.property('roomId', room.roomId);
    });

    it('ends one whose time is over once it is right again', async () => {
      const room = await node.create('Ada', 1);
      await settled(room.roomId);
      await eventually(() => rightNow() > Date.parse(room.expiresAt));
      for (const ms of [30 * DAY_MS, -30 * DAY_MS]) {
        setBy(ms);
        await node.sweep();
        expect(await factsOf(room.roomId)).not.to.include('RoomExpired');
      }
      isRight();
      await node.sweep();
      expect(await factsOf(room.roomId)).to.include('RoomExpired');
    });

    it('gives a room no more time than was asked for', async () => {
      setBy(30 * DAY_MS);
      const { expiresAt } = await node.create('Ada', HOUR_MS);
      expect(Date.parse(expiresAt)).to.be.closeTo(rightNow() + HOUR_MS, 60_000);
    });
  });

  it('lets no record go before its time, and goes on once it is right again', async () => {
    const node: LogsNode = await startLogsNode(servers, `test_${randomUUID().slice(0, 8)}`);
    try {
      const { handle, log, clock, systemContext: context }: Kernel = node.kernel;
      const { receivedBefore } = node.receipts;
      const keep = createRetention({ handle, clock, days: 30, auditDays: 365, receivedBefore, context });
      // Nothing was asked before: the clock has been wrong all the time.
      setBy(40 * DAY_MS);
      await keep();
      expect(await log.read(RETENTION_STREAM)).to.equal('missing');
      isRight();
      await keep();
      const facts = await log.read(RETENTION_STREAM);
      expect(facts).to.have.length(1).and.have.nested.property('[0].type', 'RecordsExpired');
    } finally {
      await node.stop();
    }
  });

  it('leaves what it may not do to another node', async () => {
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

describe('a clock beside that of the store', () => {
  const start = 1_800_000_000_000;
  const minutes = (n: number) => n * 60_000;

  function beside() {
    const [mine, store, passed] = [fakeClock(start), fakeClock(start), fakeClock(0)];
    const told: string[] = [];
    let asked = 0;
    const note = (_: object, message: string) => void told.push(message);
    const clock = createStoreClock({
      queryTime: async () => {
        asked++;
        return store.now();
      },
      logger: { ...silentLogger, warn: note, info: note },
      clock: mine,
      monotonic: passed,
    });
    return {
      ...{ mine, store, passed, clock, told },
      asked: () => asked,
      pass: (ms: number) => {
        for (const each of [mine, store, passed]) each.pass(ms);
      },
    };
  }

  it('is believed while nothing else is known, and while they are close', async () => {
    const { mine, clock, told } = beside();
    mine.pass(minutes(60));
    expect(clock.now()).to.equal(start + minutes(60));
    expect(clock.inSync()).to.equal(true);
    mine.pass(-minutes(59));
    await clock.compare();
    expect(clock.now()).to.equal(start + minutes(1));
    expect(clock.skewMs()).to.equal(minutes(1));
    expect(await clock.confirmedNow(), 'the earlier of the two').to.equal(start);
    expect(told).to.deep.equal([]);
  });

  for (const ahead of [60, -60]) {
    it(`is not gone by when it is set by ${ahead} minutes, and says so once`, async () => {
      const { mine, store, pass, clock, told } = beside();
      await clock.compare();
      mine.pass(minutes(ahead));
      pass(1000);
      expect([clock.now(), clock.now(), clock.inSync()]).to.deep.equal([store.now(), store.now(), false]);
      expect(clock.skewMs()).to.equal(minutes(ahead));
      expect(await clock.confirmedNow()).to.equal(undefined);
      expect(told)
        .to.have.length(1)
        .and.match(/differ by more than 2 minutes/);
      mine.pass(-minutes(ahead));
      expect([clock.now(), await clock.confirmedNow()]).to.deep.equal([store.now(), store.now()]);
      expect(told)
        .to.have.length(2)
        .and.match(/agree again/);
    });
  }

  it('believes it again after the machine has slept, as soon as the store has been asked', async () => {
    const { mine, store, clock, passed } = beside();
    await clock.compare();
    for (const each of [mine, store]) each.pass(minutes(600));
    passed.pass(minutes(2));
    expect(clock.inSync()).to.equal(false);
    await eventually(() => clock.inSync());
    expect(clock.now()).to.equal(mine.now());
    expect(await clock.confirmedNow()).to.equal(store.now());
  });

  it('is believed at once when it was set together with that of the store, and told anew while they are apart', async () => {
    const { mine, store, pass, clock } = beside();
    const answered = () => new Promise(setImmediate);
    await clock.compare();
    for (const ahead of [60, -60, 120]) {
      for (const each of [mine, store]) each.pass(minutes(ahead));
      pass(2000);
      expect(clock.inSync()).to.equal(false);
      await answered();
      expect([clock.inSync(), clock.now()]).to.deep.equal([true, mine.now()]);
    }
    mine.pass(minutes(60));
    pass(2000);
    expect(clock.inSync()).to.equal(false);
    await answered();
    for (const each of [mine, store]) each.pass(minutes(-30));
    pass(2000);
    expect(clock.inSync()).to.equal(false);
    await answered();
    expect([clock.inSync(), clock.now()]).to.deep.equal([false, store.now()]);
  });

  it('asks a store that does not answer no more than once a second for a clock that was set', async () => {
    let isAway = false;
    let asked = 0;
    const [mine, passed] = [fakeClock(start), fakeClock(0)];
    const queryTime = async () => {
      asked++;
      if (isAway) throw new UnavailableError('away');
      return start;
    };
    const clock = createStoreClock({ queryTime, logger: silentLogger, clock: mine, monotonic: passed });
    await clock.compare();
    isAway = true;
    mine.pass(minutes(60));
    for (let half = 0; half < 10; half++) {
      passed.pass(501);
      clock.inSync();
      await new Promise(setImmediate);
    }
    expect(asked).to.equal(6);
  });

  it('asks the store each time that something can not be undone, but no more than once a minute while they are apart', async () => {
    const { mine, pass, clock, asked } = beside();
    for (const times of [1, 2, 3]) {
      await clock.confirmedNow();
      expect(asked()).to.equal(times);
    }
    mine.pass(minutes(60));
    // Once when it was set.
    pass(2000);
    clock.now();
    for (let seconds = 0; seconds < 59; seconds++) {
      clock.now();
      await clock.confirmedNow();
      pass(1000);
    }
    expect(asked()).to.equal(4);
    pass(2000);
    clock.now();
    clock.now();
    await clock.confirmedNow();
    expect(asked()).to.equal(5);
  });

  it('has no certain time when the store does not say it', async () => {
    const queryTime = () => Promise.reject(new UnavailableError('away'));
    const clock = createStoreClock({ queryTime, logger: silentLogger });
    const outcome = await clock.confirmedNow().catch((error) => error);
    expect(outcome).to.be.instanceOf(UnavailableError);
    expect(clock.inSync()).to.equal(true);
  });
});
