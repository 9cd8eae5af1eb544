/** The signal counter: counts per meeting, written in batches, and kept during an outage. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createGroupCommit } from '../../../application/command/group-commit.js';
import { createSignalCounter, signalCountStream } from '../../../application/meeting/signal-counter.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { catalog } from '../../../domain/meeting/catalog.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

describe('the signal counter', () => {
  function fixture() {
    const { log } = memoryKernel(memoryWorld(), [catalog]);
    const appender = createGroupCommit({ log, logger: silentLogger, appended: () => {} });
    const retentions: unknown[] = [];
    let [isAway, commands] = [false, 0];
    const relayed = createSignalCounter({
      log: {
        async retain(_, rule) {
          if (isAway) throw new UnavailableError('away');
          retentions.push(rule);
        },
      },
      appender,
      node: 'north',
      release: 'test',
      observe: () => {},
      systemContext: (actor) => ({ actor, correlationId: 'c', commandId: `c${commands++}` }),
    });
    const written = async () => {
      const found = await log.read(signalCountStream('north'));
      return typeof found === 'string' ? [] : found.map(({ data }) => data);
    };
    const away = (is: boolean) => {
      isAway = is;
    };
    return { ...relayed, written, retentions, away };
  }
  const [one, other] = [
    { roomId: 'ABC234', meetingId: 'first' },
    { roomId: 'XYZ789', meetingId: 'second' },
  ];

  it('writes counts per meeting since the last write, to a stream with a retention', async () => {
    const { count, write, written, retentions } = fixture();
    await write();
    expect(await written()).to.deep.equal([]);
    for (const each of [one, other, one, one]) count(each);
    await write();
    expect(await written()).to.deep.equal([
      { ...one, count: 3 },
      { ...other, count: 1 },
    ]);
    await write();
    count(other);
    await write();
    expect((await written()).slice(2)).to.deep.equal([{ ...other, count: 1 }]);
    expect(retentions).to.deep.equal([{ maxAgeSeconds: 30 * 86_400 }]);
  });

  it('adds up counts during an outage of the log', async () => {
    const { count, write, written, away } = fixture();
    away(true);
    count(one);
    const failure = await write().catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(UnavailableError);
    count(one);
    away(false);
    await write();
    expect(await written()).to.deep.equal([{ ...one, count: 2 }]);
  });
});
