/** The live tail of records: filters, order, coming back, and clients that do not read. */
import { expect } from 'chai';
import { createTail, type Tail } from '../../adapters/relay/logs.js';
import type { Frame, Sink } from '../../adapters/relay/sink.js';
import type { Batch } from '../../application/logs/batches.js';
import type { Entry } from '../../application/logs/queries.js';
import type { Filter } from '../../domain/logs/filter.js';
import { EVERYTHING } from '../../domain/logs/filter.js';
import type { JsonObject } from '../../domain/logs/json.js';
import { idOf } from '../../domain/logs/place.js';
import { understand } from '../../domain/logs/record.js';
import { NOON } from '../domain/logs/arbitrary.js';

interface Client extends Sink {
  readonly frames: Frame[];
  readonly ended: string[];
  unread: number;
  leave(): void;
}

function client(): Client {
  let leave = () => {};
  const self: Client = {
    frames: [],
    ended: [],
    unread: 0,
    send: (frame) => void self.frames.push(frame),
    beat: () => {},
    buffered: () => self.unread,
    end: (how) => void self.ended.push(how),
    cut: () => void self.ended.push('cut'),
    onClose: (listener) => {
      leave = listener;
    },
    leave: () => leave(),
  };
  return self;
}

const messages = ({ frames }: Client) => frames.map(({ json }) => (JSON.parse(json) as Entry).message);

describe('the live tail', () => {
  let tail: Tail;
  let slow = false;

  const recordsOf = async ({ data, position }: Batch) => {
    // The second batch is opened sooner than the first.
    if (slow) for (let turn = 0; turn < 20 - Number(position); turn++) await Promise.resolve();
    const { secret } = data as { secret: string };
    return (JSON.parse(secret) as JsonObject[]).map((record, place) => ({
      ...understand(record, 'api', NOON),
      id: idOf(position, place),
    }));
  };
  const batch = (position: bigint, ...records: readonly object[]): Batch => ({
    type: 'RecordsIngested',
    position,
    data: { secret: JSON.stringify(records) },
  });
  const connect = (filter: Partial<Filter> = {}, after?: bigint) => {
    const one = client();
    tail.connect({ ...EVERYTHING, ...filter }, after, one);
    return one;
  };
  /** Everything the tail does here is done before the next turn of the loop. */
  const settle = () => new Promise(setImmediate);

  beforeEach(() => {
    slow = false;
    tail = createTail({
      recordsOf,
      from: Promise.resolve(0n),
      failed: (error) => {
        throw error;
      },
    });
  });
  afterEach(() => tail.close());

  it('gives everyone what passes, in the order of the log', async () => {
    slow = true;
    const [all, errors] = [connect(), connect({ levels: ['ERROR'] })];
    tail.publish(batch(1n, { message: 'a' }, { message: 'b', level: 'error' }));
    tail.publish(batch(2n, { message: 'c', level: 'error' }));
    tail.publish(batch(2n, { message: 'again' }));
    await settle();
    expect(messages(all)).to.deep.equal(['a', 'b', 'c']);
    expect(messages(errors)).to.deep.equal(['b', 'c']);
    expect(all.frames.map(({ position }) => position)).to.deep.equal([undefined, 1n, 2n]);
  });

  it('goes on where a client was, and nothing comes twice', async () => {
    slow = true;
    tail.publish(batch(1n, { message: 'a' }));
    tail.publish(batch(2n, { message: 'b' }));
    const back = connect({}, 1n);
    const further = connect({}, 0n);
    tail.publish(batch(3n, { message: 'c' }));
    await settle();
    expect(messages(back)).to.deep.equal(['b', 'c']);
    expect(messages(further)).to.deep.equal(['a', 'b', 'c']);
    const fresh = connect();
    await settle();
    expect(messages(fresh)).to.deep.equal([]);
  });

  it('says when a client was away for too long', async () => {
    for (let position = 1n; position <= 2010n; position++) tail.publish(batch(position, { message: 'x' }));
    const late = connect({}, 3n);
    tail.publish(batch(3000n, { message: 'new' }));
    await settle();
    expect(late.frames[0]).to.include({ json: '{"type":"RESET"}', position: 2010n });
    expect(messages(late).slice(1)).to.deep.equal(['new']);
    const intime = connect({}, 2005n);
    await settle();
    expect(messages(intime)).to.have.length(6);
  });

  it('cuts a client that does not read, and forgets one that left', async () => {
    const [stuck, gone] = [connect(), connect()];
    stuck.unread = 2 * 1024 * 1024;
    gone.leave();
    tail.publish(batch(1n, { message: 'a' }));
    await settle();
    tail.publish(batch(2n, { message: 'b' }));
    await settle();
    expect([stuck.ended, messages(stuck)]).to.deep.equal([['cut'], ['a']]);
    expect(messages(gone)).to.deep.equal([]);
    expect(tail.streams()).to.equal(0);
  });

  it('tells everyone to come back when the service stops', () => {
    const one = connect();
    tail.close();
    expect([one.ended, connect().ended]).to.deep.equal([['resume'], ['resume']]);
  });
});
