/** What a command costs, in its quota and in what must be there before it: once, and nothing where nothing came of it. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { box, context, type PutToy } from '../../support/toy-service.js';
import { inMemory, type Road } from './two-nodes.js';

type Append = EventLog['append'];
type Before = () => Promise<Rejection | undefined>;

const refusal: Rejection = { rejected: 'toys/not-today', kind: 'forbidden' };
const away = () => Promise.reject(new UnavailableError('for a moment'));

describe('what a command costs', () => {
  let one: Road;
  let other: Road;
  let id: string;
  let stream: string;
  /** What was spent of the quota, what was given back, and how often `before` was run. */
  let costs: { spent: number; refunded: number; before: number };

  before(async () => {
    ({ one, other } = await inMemory());
  });
  beforeEach(async () => {
    id = randomUUID();
    stream = `toys.box-${id}`;
    await one.vault.create(stream);
    costs = { spent: 0, refunded: 0, before: 0 };
  });

  const quota = {
    async spend(): Promise<Rejection | undefined> {
      costs.spent++;
      return undefined;
    },
    async refund() {
      costs.refunded++;
    },
  };
  const prepare = async () => {
    costs.before++;
    return undefined;
  };

  /** Puts a toy into the box at cost; the first appends go these ways. */
  function put(command: Partial<PutToy>, how = context(), appends: Append[] = [], before: Before = prepare) {
    const { streams, log } = one;
    const append: Append = (...args) => (appends.shift() ?? log.append)(...args);
    const { handle } = commandsOf({ log: { ...log, append }, streams });
    const asked = { box: id, toy: 'bear', ...command };
    return handle(box, stream, asked, { quota, ...how }, before).catch((error: unknown) => {
      if (!(error instanceof UnavailableError)) throw error;
      return 'unavailable' as const;
    });
  }
  const elsewhere = (toy: string, how = context()) => other.handle(box, stream, { box: id, toy }, how);
  /** Another node is faster by this. */
  const overtaken =
    (by: () => Promise<unknown>): Append =>
    async (...args) => {
      await by();
      return one.log.append(...args);
    };

  it('is paid before its append, once over all attempts', async () => {
    const paid = async (...args: Parameters<Append>) => {
      expect(costs).to.deep.equal({ spent: 1, refunded: 0, before: 1 });
      return one.log.append(...args);
    };
    const outcome = await put({}, context(), [away, overtaken(() => elsewhere('car')), paid]);
    expect(isRejection(outcome)).to.equal(false);
    expect(costs).to.deep.equal({ spent: 1, refunded: 0, before: 1 });
  });

  it('is nothing for a repetition, a refusal, and what is already so', async () => {
    const how = context(randomUUID(), 'body');
    await elsewhere('bear', how);
    expect(await put({}, how)).to.include({ repeated: true });
    expect(await put({ toy: 'car', most: 1 })).to.include({ rejected: 'toys/full' });
    expect(await put({})).to.deep.include({ events: [] });
    expect(costs).to.deep.equal({ spent: 0, refunded: 0, before: 0 });
  });

  it('is not asked for where there is no quota, and what must be there first is made all the same', async () => {
    expect(await put({}, { ...context(), quota: undefined } as never)).to.include({ repeated: false });
    expect(costs).to.deep.equal({ spent: 0, refunded: 0, before: 1 });
  });

  it('refuses, and nothing is made nor given back', async () => {
    const spent = { ...quota, spend: async () => refusal };
    expect(await put({}, { ...context(), quota: spent })).to.equal(refusal);
    expect(costs).to.deep.equal({ spent: 0, refunded: 0, before: 0 });
    expect(await one.log.read(stream)).to.equal('missing');
  });

  it('is given back when what must be there first refuses, and nothing is written', async () => {
    expect(await put({}, context(), [], async () => refusal)).to.equal(refusal);
    expect(costs).to.include({ spent: 1, refunded: 1 });
    expect(await one.log.read(stream)).to.equal('missing');
  });

  it('is spent once while what must be there first can not be made yet', async () => {
    let failures = 2;
    const outcome = await put({}, context(), [], () => (failures-- > 0 ? away() : prepare()));
    expect(isRejection(outcome)).to.equal(false);
    expect(costs).to.deep.equal({ spent: 1, refunded: 0, before: 1 });
  });

  it('is given back to a command that another was faster than, and that is refused or repeated then', async () => {
    const full = await put({ toy: 'kite', most: 1 }, context(), [overtaken(() => elsewhere('car'))]);
    expect(full).to.include({ rejected: 'toys/full' });
    expect(costs).to.include({ spent: 1, refunded: 1 });
    const how = context(randomUUID(), 'body');
    // As another node makes of the same request, by its own clock.
    const again = await put({}, how, [overtaken(() => elsewhere('bear of another moment', how))]);
    expect(again).to.include({ repeated: true });
    expect(costs).to.include({ spent: 2, refunded: 2 });
  });

  it('is given back to a command that never came to its append, and to none that may have been written', async () => {
    const now = performance.now.bind(performance);
    let passed = 0;
    /** For so long that the command is given up. */
    const awayForLong = () => {
      passed += 10_000;
      return away();
    };
    performance.now = () => now() + passed;
    try {
      expect(await put({}, context(), [], awayForLong)).to.equal('unavailable');
      expect(costs).to.include({ spent: 1, refunded: 1 });
      expect(await put({}, context(), [awayForLong])).to.equal('unavailable');
      expect(costs).to.include({ spent: 2, refunded: 1 });
    } finally {
      performance.now = now;
    }
  });
});
