/** A node whose clock is behind the event store's keeps working. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import type { Kernel } from '../../../bin/node/kernel.js';
import { box, context, startToys } from '../../support/toy-service.js';

const HOUR_MS = 3_600_000;
const AGES = { 'an hour': HOUR_MS, 'fifty years': 50 * 365 * 24 * HOUR_MS };

for (const [age, behindMs] of Object.entries(AGES))
  describe(`a clock that is ${age} behind`, () => {
    const rightNow = Date.now;
    let servers: Servers;
    let kernel: Kernel;

    before(async () => {
      servers = await startServers();
      kernel = await startToys(servers, `test_${randomUUID().slice(0, 8)}`);
      Date.now = () => rightNow() - behindMs;
    });
    after(async () => {
      Date.now = rightNow;
      await kernel?.mongo.models.dropDatabase();
      await kernel?.close();
      await servers?.stop();
    });

    it('stores events and metadata', async () => {
      const id = randomUUID();
      const stream = `toys.box-${id}`;
      await kernel.vault.create(stream);
      for (const toy of ['bear', 'car']) await kernel.handle(box, stream, { box: id, toy }, context());
      await kernel.log.retain(stream, { maxCount: 1 });
      expect(await kernel.log.time()).to.be.a('number');
      const events = await kernel.log.read(stream);
      expect(typeof events === 'string' ? events : events.map(({ data }) => data.toy)).to.deep.equal(['car']);
    });
  });
