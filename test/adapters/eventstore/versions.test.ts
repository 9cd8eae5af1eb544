/** Events written by another release: an error for commands, skipped by subscriptions. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { jsonEvent } from '@eventstore/db-client';
import { expect } from 'chai';
import type { RecordedEvent } from '../../../application/ports/index.js';
import type { Kernel } from '../../../bin/node/kernel.js';
import { box, context, startToys } from '../../support/toy-service.js';

describe('an event of another release', () => {
  let servers: Servers;
  let kernel: Kernel;
  let id: string;
  let stream: string;

  before(async () => {
    servers = await startServers();
    kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
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

  const put = (toy: string) => kernel.handle(box, stream, { box: id, toy }, context());
  const write = async (type: string) => {
    const secret = await kernel.vault.seal(stream, { note: '' });
    await kernel.client.appendToStream(stream, jsonEvent({ type, data: { box: id, toy: 'x', secret } }));
  };
  const outcome = (work: Promise<unknown>) => work.catch((error: Error) => error.message);

  for (const type of ['toys.ToyPut.v2', 'toys.ToyBroken.v1', 'nonsense']) {
    it(`is an error for commands: ${type}`, async () => {
      await put('bear');
      await write(type);
      expect(await outcome(kernel.log.read(stream))).to.match(/has an unknown event type/);
      expect(await outcome(kernel.aggregates.reload(box, stream))).to.match(/has an unknown event type/);
      expect(await outcome(put('car').then(() => put('car')))).to.match(/has an unknown event type/);
    });

    it(`is skipped by subscriptions: ${type}`, async () => {
      const from = await kernel.head();
      await put('bear');
      await write(type);
      const last = await kernel.client.appendToStream(
        `toys.box-${randomUUID()}`,
        jsonEvent({ type: 'toys.ToyPut.v1', data: { box: 'other', toy: 'kite', secret: '' } }),
      );
      const stop = new AbortController();
      const seen: RecordedEvent[] = [];
      for await (const { events, position } of kernel.follow({
        prefixes: ['toys.'],
        from,
        signal: stop.signal,
      })) {
        seen.push(...events);
        if (position !== undefined && position >= last.position!.commit) break;
      }
      expect(seen.map(({ data }) => data.toy)).to.deep.equal(['bear', 'kite']);
    });
  }
});
