/** Whether the store accepts writes: probed only after a failed write. */
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import { trackWriteHealth } from '../../../adapters/eventstore/event-log.js';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';

describe('write health of the log', () => {
  let failure: Error | undefined;
  let trials: number;
  const write = async () => {
    if (failure) throw failure;
  };
  const watch = () =>
    trackWriteHealth(
      { append: write, retain: write, tombstone: write, read: async () => 'missing' } as unknown as EventLog,
      async () => {
        trials++;
        await write();
      },
    );
  const writes = (log: EventLog) =>
    ({
      append: () => log.append('s', 'none', []),
      retain: () => log.retain('s', {}),
      tombstone: () => log.tombstone('s'),
    }) as const;

  beforeEach(() => {
    [failure, trials] = [undefined, 0];
  });

  it('needs no probe while writes succeed or are rejected on purpose', async () => {
    const log = watch();
    await log.writable();
    await writes(log).append();
    failure = new Error('the event does not fit its schema');
    for (const each of Object.values(writes(log))) expect(await rejection(each())).to.equal(failure);
    await log.writable();
    expect(trials).to.equal(0);
    expect(await log.read('s')).to.equal('missing');
  });

  for (const name of ['append', 'retain', 'tombstone'] as const)
    it(`is probed after a failed ${name} until a probe succeeds`, async () => {
      const log = watch();
      failure = new UnavailableError('the disk is full');
      expect(await rejection(writes(log)[name]())).to.equal(failure);
      expect(await rejection(log.writable())).to.equal(failure);
      expect(await rejection(log.writable())).to.equal(failure);
      failure = undefined;
      await log.writable();
      await log.writable();
      expect(trials).to.equal(3);
    });

  it('is restored by the next successful write', async () => {
    const log = watch();
    failure = new UnavailableError('the disk is full');
    await rejection(log.append('s', 'none', []));
    failure = undefined;
    await log.tombstone('s');
    await log.writable();
    expect(trials).to.equal(0);
  });
});
