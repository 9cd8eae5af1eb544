/** Group commit: concurrent batches share appends and are stored exactly once, despite lost answers and conflicts. */
import { randomUUID } from 'node:crypto';
import { type Servers, silentLogger, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { newEvent } from '../../../application/command/event-envelope.js';
import { type Appender, createGroupCommit, type PendingEvent } from '../../../application/command/group-commit.js';
import { type EventLog, UnavailableError } from '../../../application/ports/index.js';
import { type BatchSecret, createBatches, recordTexts } from '../../../domain/logs/batch.js';
import { batchStream, bucketSubject } from '../../../domain/logs/retention-bucket.js';
import { type LogsNode, recordText, startLogsNode } from '../../support/log-node.js';

const NOON = Date.UTC(2026, 2, 1, 12);

describe('group commit on the servers', () => {
  let servers: Servers;
  let node: LogsNode;
  let producerId: string;

  before(async () => {
    servers = await startServers();
    node = await startLogsNode(servers, `test_${randomUUID().slice(0, 8)}`);
  });
  after(async () => {
    await node?.stop();
    await servers?.stop();
  });
  beforeEach(() => {
    producerId = randomUUID().slice(0, 8);
  });

  const stream = () => batchStream({ producerId, day: '20260301', audit: false }, NOON);
  const batch = async (name: string, bytes = 100): Promise<PendingEvent> => {
    const records = [{ ...recordText({ name }), bytes }];
    const [event] = createBatches({ producerId, receivedAt: NOON, records, rejected: 0 });
    await node.kernel.vault.create(bucketSubject(event!.data));
    const origin = { service: 'logs', release: 'test' };
    return { event: newEvent(origin, stream(), event!, 0, node.kernel.systemContext('test')), bytes };
  };
  const named = async () => {
    const events = await node.kernel.log.read(stream());
    if (typeof events === 'string') return events;
    const opened = events.map(({ data }) => node.kernel.vault.open(bucketSubject(data as never), String(data.secret)));
    return (await Promise.all(opened)).map((secret) => JSON.parse(recordTexts(secret as BatchSecret)[0]!).name);
  };
  const over = (append: EventLog['append']): Appender =>
    createGroupCommit({ log: { ...node.kernel.log, append }, logger: silentLogger, appended: () => {} });

  it('shares appends, in order, within the limits of one append', async () => {
    /** Keyed by the last event of each append: a retry after a timeout counts once. */
    const sizes = new Map<string, number>();
    const { log } = node.kernel;
    const appender = over((name, expected, events) => {
      sizes.set(events.at(-1)!.id, events.length);
      return log.append(name, expected, events);
    });
    const small = await Promise.all(Array.from({ length: 200 }, (_, n) => batch(`s${n}`)));
    await Promise.all(small.map((each) => appender.append(stream(), [each])));
    expect(sizes.size).to.be.lessThan(10);
    expect(await named()).to.deep.equal(small.map((_, n) => `s${n}`));
    sizes.clear();
    const large = await Promise.all(Array.from({ length: 6 }, (_, n) => batch(`l${n}`, 300_000)));
    await appender.append(stream(), large);
    expect([...sizes.values()]).to.deep.equal([2, 2, 2]);
  });

  it('appends once if an answer is lost or another node writes first', async () => {
    const { log } = node.kernel;
    let calls = 0;
    const appender = over(async (name, expected, events) => {
      calls++;
      const outcome = await log.append(name, expected, events);
      if (calls === 2) throw new UnavailableError('answer lost');
      return outcome;
    });
    await appender.append(stream(), [await batch('one')]);
    await appender.append(stream(), [await batch('two')]);
    expect(
      await createGroupCommit({ log, logger: silentLogger, appended: () => {} }).append(stream(), [
        await batch('other'),
      ]),
    ).to.be.a('bigint');
    await appender.append(stream(), [await batch('three')]);
    expect(await named()).to.deep.equal(['one', 'two', 'other', 'three']);
  });

  it('fails the pending batches of an outage, and none that follow', async () => {
    const { log } = node.kernel;
    let away = true;
    const appender = over(async (name, expected, events) => {
      if (away) throw new UnavailableError('away');
      return log.append(name, expected, events);
    });
    const failed = await appender.append(stream(), [await batch('failed')]).catch((error) => error);
    expect(failed).to.be.instanceOf(UnavailableError);
    away = false;
    await appender.append(stream(), [await batch('stored')]);
    expect(await named()).to.deep.equal(['stored']);
    expect(appender.waitingBytes()).to.equal(0);
  });
});
