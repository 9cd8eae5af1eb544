/** The contract of the command handler, on servers and in memory: exactly once, decided again on a conflict. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { AggregateStore } from '../../../application/command/aggregate.js';
import type { Handled } from '../../../application/command/idempotency.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { type Box, box, context, type PutToy, type ToyEvent } from '../../support/toy-service.js';
import type { Road, StartRoads } from './two-nodes.js';

const done = (outcome: Handled<Box> | Rejection): Handled<Box> => {
  if (isRejection(outcome)) throw new Error(outcome.rejected);
  return outcome;
};

export function handlingCommands(start: StartRoads) {
  let one: Road;
  let other: Road;
  let stop: () => Promise<void>;
  let id: string;
  let stream: string;

  before(async () => {
    const started = await start();
    [one, other] = [started.one, started.other];
    stop = started.stop;
  });
  after(() => stop?.());
  beforeEach(async () => {
    id = randomUUID();
    stream = `toys.box-${id}`;
    await one.vault.create(stream);
  });

  const put = (kernel: Road, toy: string, more = {}, how = context()) =>
    kernel.handle(box, stream, { box: id, toy, ...more }, how);

  it('enforces limits when two processes decide on one stream concurrently', async () => {
    const toys = Array.from({ length: 40 }, (_, index) => `toy-${index}`);
    const outcomes = await Promise.all(toys.map((toy, index) => put(index % 2 ? one : other, toy, { most: 10 })));
    expect(outcomes.filter((outcome) => !isRejection(outcome))).to.have.length(10);
    const { state } = await other.aggregates.reload(box, stream);
    expect(state.toys).to.have.length(10);
  });

  it('writes nothing if the command changes nothing', async () => {
    const first = done(await put(one, 'bear'));
    const second = done(await put(one, 'bear'));
    expect(second.position).to.equal(first.position);
    expect(await one.log.read(stream)).to.have.length(1);
  });

  it('decides on the events of another process before it rejects', async () => {
    await put(one, 'bear');
    await put(other, 'car');
    expect((await done(await put(one, 'car')).state()).toys).to.deep.equal(['bear', 'car']);
    expect(await one.log.read(stream)).to.have.length(2);
    expect(await put(one, 'kite', { most: 2 })).to.include({ rejected: 'toys/full' });
  });

  it('decides on the events of another process before it writes nothing', async () => {
    const latest = {
      ...box,
      decider: {
        ...box.decider,
        decide: ({ box: id, toy }: PutToy, { toys }: Box): readonly ToyEvent[] =>
          toys.at(-1) === toy ? [] : [{ type: 'ToyPut', data: { box: id, toy, secret: { note: '' } } }],
      },
    };
    await put(one, 'bear');
    await put(other, 'car');
    const outcome = done(await one.handle(latest, stream, { box: id, toy: 'bear' }, context()));
    expect((await outcome.state()).toys).to.deep.equal(['bear', 'car', 'bear']);
    expect(await one.log.read(stream)).to.have.length(3);
  });

  it('answers a repeated command with the result of its first run', async () => {
    const how = context(randomUUID(), 'body-1');
    const first = done(await put(one, 'bear', {}, how));
    await put(one, 'car');
    const again = done(await put(one, 'bear', {}, how));
    expect(again).to.deep.include({ repeated: true, position: first.position });
    expect((await again.state()).toys).to.deep.equal(['bear']);
    const onOther = done(await put(other, 'bear', {}, how));
    expect(onOther).to.deep.include({ repeated: true, position: first.position });
    expect(await one.log.read(stream)).to.have.length(2);
  });

  describe('that creates a stream', () => {
    const creatingBox = { ...box, creates: ({ most }: PutToy) => most === 0 };
    const create = (kernel: Road, how = context(), toy = 'bear') => {
      const reads: string[] = [];
      const aggregates: AggregateStore = {
        ...kernel.aggregates,
        load(...args) {
          reads.push('load');
          return kernel.aggregates.load(...args);
        },
        reload(...args) {
          reads.push('refresh');
          return kernel.aggregates.reload(...args);
        },
      };
      const { handle } = commandsOf({ log: kernel.log, aggregates, clock: Date, appended: () => {} });
      const roomy = { ...creatingBox, decider: { ...box.decider, decide } };
      const outcome = handle(roomy, stream, { box: id, toy, most: 0 }, how);
      return { outcome, reads };
    };
    const decide = (command: PutToy, state: Box) => box.decider.decide({ box: command.box, toy: command.toy }, state);

    it('appends without reading the log', async () => {
      const { outcome, reads } = create(one);
      expect((await done(await outcome).state()).toys).to.deep.equal(['bear']);
      expect(reads).to.deep.equal([]);
      expect(await one.log.read(stream)).to.have.length(1);
    });

    it('loads the stream if it exists, written by the same command or another one', async () => {
      const how = context(randomUUID(), 'body');
      const first = done(await create(one, how).outcome);
      for (const kernel of [one, other]) {
        expect(done(await create(kernel, how).outcome).position).to.equal(first.position);
      }
      const different = await create(other, context(how.commandId, 'another body'), 'car').outcome;
      expect(different).to.include({ kind: 'misused-key' });
      const already = done(await create(other, context(), 'bear').outcome);
      expect(already.events).to.deep.equal([]);
      expect(await one.log.read(stream)).to.have.length(1);
    });
  });

  it('loads without decrypting, and decrypts the events of a repeated command', async () => {
    const how = context(randomUUID(), 'body');
    await put(one, 'bear', { note: 'for Ada' }, how);
    const undecryptedBox = { ...box, decrypts: 'none' as const };
    const { state, commands } = await other.aggregates.reload(undecryptedBox, stream);
    expect(state).to.deep.equal({ toys: ['bear'], notes: ['erased'] });
    const [written] = await other.aggregates.eventsOfCommand(undecryptedBox, stream, commands.get(how.commandId)!);
    expect(written?.data).to.deep.include({ secret: { note: 'for Ada' } });
  });

  it('rejects an idempotency key reused with another request', async () => {
    const commandId = randomUUID();
    await put(one, 'bear', {}, context(commandId, 'body-1'));
    const outcome = await put(one, 'car', {}, context(commandId, 'body-2'));
    expect(outcome).to.include({
      rejected: 'toys/idempotency-key-reused',
      kind: 'misused-key',
    });
  });

  it('runs concurrent repetitions of a command once', async () => {
    const how = context(randomUUID(), 'body');
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, index) => put(index % 2 ? one : other, 'bear', {}, how)),
    );
    expect(new Set(outcomes.map((outcome) => done(outcome).position))).to.have.property('size', 1);
    expect(await one.log.read(stream)).to.have.length(1);
  });

  it('reads events with a destroyed key as erased, and rejects further commands', async () => {
    await put(one, 'bear', { note: 'for Ada' });
    expect((await done(await put(one, 'car')).state()).notes).to.deep.equal(['for Ada', '']);
    await one.vault.destroy(stream);
    const loaded = await one.aggregates.asOf(box, stream, 1);
    expect(loaded.state.notes).to.deep.equal(['erased', 'erased']);
    expect(await put(one, 'kite')).to.include({ kind: 'gone' });
    expect(await one.log.read(stream)).to.have.length(2);
  });

  it('never creates a destroyed key again', async () => {
    await one.vault.destroy(stream);
    await one.vault.create(stream);
    expect(await one.vault.seal(stream, { note: 'x' })).to.equal(undefined);
  });

  it('rejects an event that does not match its schema, and stores nothing', async () => {
    const misfit = { box: id, toy: 7 as unknown as string };
    const outcome = await one.handle(box, stream, misfit, context()).catch((error: Error) => error.message);
    expect(outcome).to.match(/does not fit its schema/);
    expect(await one.log.read(stream)).to.equal('missing');
  });
}
