/** Single streams of the log: appends, reads, retention and tombstones. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { rejection } from '@annals/engines/testing/eventstore-client.js';
import { expect } from 'chai';
import type { EventLog } from '../../../application/ports/index.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import { startToys } from '../../support/toy-service.js';

describe('a stream of the log', () => {
  let servers: Servers;
  let kernel: Kernel;
  let log: EventLog;
  let id: string;
  let stream: string;

  before(async () => {
    servers = await startServers();
    kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
    log = kernel.log;
  });
  after(async () => {
    await kernel?.mongo.models.dropDatabase();
    await kernel?.close();
    await servers?.stop();
  });
  beforeEach(async () => {
    id = randomUUID();
    stream = `toys.box-${id}`;
    await kernel.vault.create(stream);
  });

  const put = (toy: string) => ({
    id: randomUUID(),
    event: { type: 'ToyPut', data: { box: id, toy, secret: { note: '' } } },
    metadata: {},
  });
  const toys = (found: Awaited<ReturnType<EventLog['read']>>) =>
    typeof found === 'string' ? found : found.map(({ data }) => data.toy);

  it('accepts events at the expected revision and returns their position', async () => {
    const first = await log.append(stream, 'none', [put('bear'), put('car')]);
    if (first.outcome !== 'appended') throw new Error(first.outcome);
    expect(first.revision).to.equal(1);
    expect(first.position).to.equal(await kernel.head());
    const second = await log.append(stream, 1, [put('kite')]);
    expect(second).to.deep.equal({ outcome: 'appended', revision: 2, position: await kernel.head() });
    expect(toys(await log.read(stream))).to.deep.equal(['bear', 'car', 'kite']);
  });

  it("returns the time by the store's clock", async () => {
    const before = Date.now();
    expect(await kernel.log.time()).to.be.within(before - 1000, Date.now() + 1000);
  });

  it('reports a conflict at any other revision', async () => {
    await log.append(stream, 'none', [put('bear')]);
    for (const expected of ['none', 1, 7] as const)
      expect(await log.append(stream, expected, [put('car')])).to.deep.equal({
        outcome: 'conflict',
        revision: 0,
      });
    expect(await log.append(`toys.box-${randomUUID()}`, 0, [put('car')])).to.deep.equal({
      outcome: 'conflict',
    });
    expect(toys(await log.read(stream))).to.deep.equal(['bear']);
  });

  it('can be read while missing any number of times without breaking the connection', async () => {
    const found = new Set<unknown>();
    for (let round = 0; round < 100; round++)
      for (const each of await Promise.all(Array.from({ length: 50 }, () => log.read(`toys.box-${randomUUID()}`))))
        found.add(each);
    expect([...found]).to.deep.equal(['missing']);
  });

  it('is closed by a tombstone for appends, reads and retention; a second tombstone changes nothing', async () => {
    await log.append(stream, 'none', [put('bear')]);
    await log.tombstone(stream);
    await log.tombstone(stream);
    for (const expected of ['none', 0, 1] as const)
      expect(await log.append(stream, expected, [put('car')])).to.deep.equal({ outcome: 'deleted' });
    expect(await log.read(stream)).to.equal('deleted');
    await log.retain(stream, { maxCount: 1 });
    const empty = `toys.box-${randomUUID()}`;
    await log.tombstone(empty);
    expect(await log.read(empty)).to.equal('deleted');
  });

  it('rejects appends when the key of its subject is destroyed', async () => {
    await kernel.vault.destroy(stream);
    expect(await log.append(stream, 'none', [put('bear')])).to.deep.equal({ outcome: 'deleted' });
    expect(await log.read(stream)).to.equal('missing');
  });

  it('rejects events the server will never accept, which is not a conflict', async () => {
    const large = put('x'.repeat(2 * 1024 * 1024));
    expect(await rejection(log.append(stream, 'none', [large]))).to.have.property(
      'type',
      'maximum-append-size-exceeded',
    );
    expect(await log.read(stream)).to.equal('missing');
    expect(await rejection(log.retain('', { maxCount: 1 }))).to.be.instanceOf(Error);
  });

  it('is read from any revision, in both directions, up to a limit', async () => {
    await log.append(stream, 'none', ['a', 'b', 'c', 'd'].map(put));
    const read = async (options: Parameters<EventLog['read']>[1]) => toys(await log.read(stream, options));
    expect(await read({ from: 2 })).to.deep.equal(['c', 'd']);
    expect(await read({ limit: 2 })).to.deep.equal(['a', 'b']);
    expect(await read({ from: 1, limit: 1 })).to.deep.equal(['b']);
    expect(await read({ backwards: true, limit: 1 })).to.deep.equal(['d']);
    expect(await read({ backwards: true })).to.deep.equal(['d', 'c', 'b', 'a']);
    expect(await read({ backwards: true, from: 1 })).to.deep.equal(['b', 'a']);
    expect(await read({ from: 0, backwards: false })).to.deep.equal(['a', 'b', 'c', 'd']);
    expect(await read({ from: 4 })).to.deep.equal([]);
  });

  it('keeps events by count or age', async () => {
    await log.append(stream, 'none', ['a', 'b', 'c'].map(put));
    await log.retain(stream, { maxCount: 2 });
    expect(toys(await log.read(stream))).to.deep.equal(['b', 'c']);
    await log.retain(stream, { maxAgeSeconds: 3600 });
    expect(toys(await log.read(stream))).to.deep.equal(['a', 'b', 'c']);
    const { metadata } = await kernel.client.getStreamMetadata(stream);
    expect(metadata).to.deep.equal({ maxAge: 3600 });
  });
});
