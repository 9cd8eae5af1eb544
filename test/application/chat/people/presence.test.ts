/** The presence sweep disconnects users of dead nodes and earlier runs, and writes nothing else. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { presenceAggregate } from '../../../../application/chat/aggregates.js';
import { createPresence, presenceWork } from '../../../../application/chat/people/presence.js';
import { createAuthentication } from '../../../../application/chat/sign-in/authenticate.js';
import type { Rows } from '../../../../application/ports/index.js';
import { catalog } from '../../../../domain/chat/catalog.js';
import { presenceStream } from '../../../../domain/chat/presence.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

const { signal } = new AbortController();

describe('the presence sweep', () => {
  /** A node called `one`; the names in `alive` are other live nodes. */
  function fixture({ alive = [] as readonly string[] } = {}) {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const known = new Set<string>();
    const state = async (userId: string) =>
      (await kernel.aggregates.reload(presenceAggregate, presenceStream(userId))).state;
    /** As the read model has them: users with open streams on any node. */
    const find = async () => {
      const all = await Promise.all(Array.from(known, async (_id) => ({ _id, ...(await state(_id)), _at: 0n })));
      return all.filter(({ runs }) => runs.length > 0);
    };
    const admission = createAuthentication({
      aggregates: kernel.aggregates,
      tokens: {} as never,
      clock: Date,
      feedPosition: () => 0n,
    });
    const holder = async (name: string) =>
      alive.some((node) => name === `periodic:${presenceWork(node)}`) ? 'somebody' : undefined;
    const presence = createPresence({
      ...kernel,
      rows: { find } as unknown as Rows,
      leases: { holder } as never,
      clock: Date,
      admission,
      node: 'one',
      logger: silentLogger,
      graceMs: 0,
    });
    const of = async (userId: string) => {
      const { status, runs } = await state(userId);
      return { status, nodes: runs.map((run) => run.slice(0, run.indexOf('~'))) };
    };
    return {
      ...presence,
      of,
      /** Number of presence events of a user. */
      eventsOf: async (userId: string) =>
        (await kernel.aggregates.reload(presenceAggregate, presenceStream(userId))).revision + 1,
      /** Connects a user to a run of a node. */
      async connect(userId: string, run: string) {
        known.add(userId);
        const command = { type: 'Connect' as const, userId, run, now: Date.now() };
        await kernel.handle(presenceAggregate, presenceStream(userId), command, context(randomUUID()));
      },
      /** Disconnects a user, as another node does that takes this one for dead. */
      async takeForDead(userId: string) {
        for (const run of (await state(userId)).runs) {
          const command = { type: 'Disconnect' as const, userId, run, now: Date.now() };
          await kernel.handle(presenceAggregate, presenceStream(userId), command, context(randomUUID()));
        }
      },
      /** Opens a stream of a user on this node. */
      async open(userId: string) {
        known.add(userId);
        const close = presence.trackStream(userId);
        await eventually(async () => (await of(userId)).status === 'online');
        return close;
      },
    };
  }

  it('writes nothing for users connected to this node, however often it runs', async () => {
    const { open, sweep, of, eventsOf } = fixture();
    await open('ada');
    for (let times = 0; times < 3; times++) await sweep(signal);
    expect(await of('ada')).to.deep.equal({ status: 'online', nodes: ['one'] });
    expect(await eventsOf('ada')).to.equal(1);
  });

  it('disconnects users of an earlier run of this node, unless they are connected again', async () => {
    const { connect, open, sweep, of } = fixture();
    await connect('ada', 'one~before');
    await connect('bob', 'one~before');
    await open('bob');
    expect((await of('bob')).nodes).to.deep.equal(['one', 'one']);
    await sweep(signal);
    expect(await of('ada')).to.deep.equal({ status: 'offline', nodes: [] });
    expect(await of('bob')).to.deep.equal({ status: 'online', nodes: ['one'] });
  });

  it('disconnects users of a dead node and keeps those of a live one', async () => {
    const { connect, sweep, of } = fixture({ alive: ['two'] });
    await connect('ada', 'two~a');
    await connect('bob', 'three~a');
    await connect('cyd', 'two~a');
    await connect('cyd', 'three~a');
    await sweep(signal);
    expect(await of('ada')).to.deep.equal({ status: 'online', nodes: ['two'] });
    expect(await of('bob')).to.deep.equal({ status: 'offline', nodes: [] });
    expect(await of('cyd')).to.deep.equal({ status: 'online', nodes: ['two'] });
  });

  it('connects users of this node again after another node took it for dead', async () => {
    const { open, takeForDead, sweep, of } = fixture();
    await open('ada');
    await takeForDead('ada');
    expect(await of('ada')).to.deep.equal({ status: 'offline', nodes: [] });
    await eventually(async () => {
      await sweep(signal);
      return (await of('ada')).status === 'online';
    });
    expect((await of('ada')).nodes).to.deep.equal(['one']);
  });
});
