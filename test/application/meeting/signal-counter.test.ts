/** How much was relayed that is kept nowhere: counted by meeting, written together, lost neither by a store that is away. */
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createGroupCommit } from '../../../application/command/group-commit.js';
import { createSignalCounter, signalCountStream } from '../../../application/meeting/signal-counter.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { catalog } from '../../../domain/meeting/catalog.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

describe('what was relayed', () => {
  function counting() {
    const { log } = memoryKernel(memoryWorld(), [catalog]);
    const appender = createGroupCommit({ log, logger: silentLogger, appended: () => {} });
    const kept: unknown[] = [];
    let [isAway, commands] = [false, 0];
    const relayed = createSignalCounter({
      log: {
        async retain(_, rule) {
          if (isAway) throw new UnavailableError('away');
          kept.push(rule);
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
    return { ...relayed, written, kept, away };
  }
  const [one, other] = [
    { roomId: 'ABC234', meetingId: 'first' },
    { roomId: 'XYZ789', meetingId: 'second' },
  ];

  it('is written for each meeting that had some since, in a stream that forgets', async () => {
    const { count, write, written, kept } = counting();
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
    expect(kept).to.deep.equal([{ maxAgeSeconds: 30 * 86_400 }]);
  });

  it('is written with the next where the log was away', async () => {
    const { count, write, written, away } = counting();
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
