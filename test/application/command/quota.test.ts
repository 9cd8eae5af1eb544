/** Quotas and prerequisites of commands: paid once per command, and refunded if nothing is written. */
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

describe('the quota of a command', () => {
  let one: Road;
  let other: Road;
  let id: string;
  let stream: string;
  /** Spent and refunded units, and runs of `beforeAppend`. */
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

  /** Puts a toy into the box with a quota; the first appends are replaced by `appends`. */
  function put(command: Partial<PutToy>, how = context(), appends: Append[] = [], before: Before = prepare) {
    const { aggregates, log } = one;
    const append: Append = (...args) => (appends.shift() ?? log.append)(...args);
    const { handle } = commandsOf({ log: { ...log, append }, aggregates });
    const putToy = { box: id, toy: 'bear', ...command };
    return handle(box, stream, putToy, { quota, ...how }, before).catch((error: unknown) => {
      if (!(error instanceof UnavailableError)) throw error;
      return 'unavailable' as const;
    });
  }
  const putOnOther = (toy: string, how = context()) => other.handle(box, stream, { box: id, toy }, how);
  /** An append that another node overtakes with `by`. */
  const overtaken =
    (by: () => Promise<unknown>): Append =>
    async (...args) => {
      await by();
      return one.log.append(...args);
    };

  it('is spent once before the append, over all attempts', async () => {
    const paid = async (...args: Parameters<Append>) => {
      expect(costs).to.deep.equal({ spent: 1, refunded: 0, before: 1 });
      return one.log.append(...args);
    };
    const outcome = await put({}, context(), [away, overtaken(() => putOnOther('car')), paid]);
    expect(isRejection(outcome)).to.equal(false);
    expect(costs).to.deep.equal({ spent: 1, refunded: 0, before: 1 });
  });

  it('is not spent by repetitions, rejections and commands without effect', async () => {
    const how = context(randomUUID(), 'body');
    await putOnOther('bear', how);
    expect(await put({}, how)).to.include({ repeated: true });
    expect(await put({ toy: 'car', most: 1 })).to.include({ rejected: 'toys/full' });
    expect(await put({})).to.deep.include({ events: [] });
    expect(costs).to.deep.equal({ spent: 0, refunded: 0, before: 0 });
  });

  it('is optional, and the prerequisite runs without it', async () => {
    expect(await put({}, { ...context(), quota: undefined } as never)).to.include({ repeated: false });
    expect(costs).to.deep.equal({ spent: 0, refunded: 0, before: 1 });
  });

  it('rejects the command when exhausted, before prerequisites', async () => {
    const spent = { ...quota, spend: async () => refusal };
    expect(await put({}, { ...context(), quota: spent })).to.equal(refusal);
    expect(costs).to.deep.equal({ spent: 0, refunded: 0, before: 0 });
    expect(await one.log.read(stream)).to.equal('missing');
  });

  it('is refunded when the prerequisite rejects', async () => {
    expect(await put({}, context(), [], async () => refusal)).to.equal(refusal);
    expect(costs).to.include({ spent: 1, refunded: 1 });
    expect(await one.log.read(stream)).to.equal('missing');
  });

  it('is spent once while the prerequisite is retried', async () => {
    let failures = 2;
    const outcome = await put({}, context(), [], () => (failures-- > 0 ? away() : prepare()));
    expect(isRejection(outcome)).to.equal(false);
    expect(costs).to.deep.equal({ spent: 1, refunded: 0, before: 1 });
  });

  it('is refunded after a conflict with a rejection or a repetition', async () => {
    const full = await put({ toy: 'kite', most: 1 }, context(), [overtaken(() => putOnOther('car'))]);
    expect(full).to.include({ rejected: 'toys/full' });
    expect(costs).to.include({ spent: 1, refunded: 1 });
    const how = context(randomUUID(), 'body');
    // The same request on another node with a different clock.
    const again = await put({}, how, [overtaken(() => putOnOther('bear of another moment', how))]);
    expect(again).to.include({ repeated: true });
    expect(costs).to.include({ spent: 2, refunded: 2 });
  });

  it('is refunded if nothing was sent, and not if the outcome is unknown', async () => {
    const now = performance.now.bind(performance);
    let passed = 0;
    /** Lets the whole time of the request pass. */
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
