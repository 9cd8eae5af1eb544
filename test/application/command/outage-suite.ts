/** The contract of commands while the log does not answer: retried, appended once, and a deleted stream is not busy. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { newEvent } from '../../../application/command/event-envelope.js';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { isRejection } from '../../../domain/shared/decider.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { box, context } from '../../support/toy-service.js';
import type { Road, StartRoads } from './two-nodes.js';

export function whileTheLogIsAway(start: StartRoads) {
  let kernel: Road;
  let stop: () => Promise<void>;
  let id: string;
  let stream: string;

  before(async () => {
    const started = await start();
    kernel = started.one;
    stop = started.stop;
  });
  after(() => stop?.());
  beforeEach(async () => {
    id = randomUUID();
    stream = `toys.box-${id}`;
    await kernel.vault.create(stream);
  });

  /** A handler with its first append replaced by `first`. */
  function handleWith(first: EventLog['append']) {
    const { log, aggregates } = kernel;
    let appends = 0;
    const append: EventLog['append'] = (...args) => (appends++ === 0 ? first : log.append)(...args);
    const counts: number[] = [];
    const appended = (_: string, __: bigint, events: number) => void counts.push(events);
    const { handle } = commandsOf({ log: { ...log, append }, aggregates, appended });
    const put = (toy: string) => handle(box, stream, { box: id, toy }, context());
    return { put, counts, appends: () => appends };
  }
  const stored = async () => {
    const found = await kernel.log.read(stream);
    return typeof found === 'string' ? found : found.map(({ data }) => data.toy);
  };

  it('is survived by a retry', async () => {
    const { put, counts } = handleWith(() => Promise.reject(new UnavailableError('for a moment')));
    const outcome = await put('bear');
    expect(isRejection(outcome)).to.equal(false);
    expect(await stored()).to.deep.equal(['bear']);
    expect(counts).to.deep.equal([1]);
  });

  it('does not repeat an append whose answer was lost', async () => {
    const { put } = handleWith(async (...args) => {
      await kernel.log.append(...args);
      throw new UnavailableError('answer lost');
    });
    const outcome = await put('bear');
    expect(isRejection(outcome)).to.equal(false);
    expect(await stored()).to.deep.equal(['bear']);
  });

  it('does not repeat an append whose answer was lost, even if the stream was read meanwhile', async () => {
    const { put } = handleWith(async (...args) => {
      await kernel.log.append(...args);
      await kernel.aggregates.reload(box, stream);
      throw new UnavailableError('answer lost');
    });
    const outcome = await put('bear');
    if (isRejection(outcome)) throw new Error(outcome.rejected);
    expect(outcome.events.map(({ type }) => type)).to.deep.equal(['ToyPut']);
    expect((await kernel.aggregates.load(box, stream)).state.toys).to.deep.equal(['bear']);
  });

  it('fails the command when the time of the request is used up', async () => {
    const now = performance.now.bind(performance);
    const { put, appends } = handleWith(() => {
      performance.now = () => now() + 10_000;
      return Promise.reject(new UnavailableError('for long'));
    });
    const failed = await put('bear')
      .catch((error) => error)
      .finally(() => {
        performance.now = now;
      });
    expect(failed).to.be.instanceOf(UnavailableError);
    expect([appends(), await stored()]).to.deep.equal([1, 'missing']);
  });

  it('is not assumed for a deleted stream, which rejects commands as gone', async () => {
    await handleWith(kernel.log.append).put('bear');
    await kernel.log.tombstone(stream);
    const event = { type: 'ToyPut', data: { box: id, toy: 'car', secret: { note: '' } } };
    const one = newEvent({ service: 'toys', release: 'test' }, stream, event, 0, context());
    expect(await kernel.log.append(stream, 0, [one])).to.deep.equal({ outcome: 'deleted' });
    expect(await stored()).to.equal('deleted');
    expect(await handleWith(kernel.log.append).put('doll')).to.deep.equal({
      rejected: 'toys/gone',
      kind: 'gone',
    });
    expect(await kernel.aggregates.reload(box, stream)).to.deep.include({ revision: 0, deleted: true });
  });
}
