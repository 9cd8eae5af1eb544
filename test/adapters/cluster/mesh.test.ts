/** Messages between nodes over real sockets: ordered, complete, and at the pace of their receiver. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { messageOf, useMesh } from '../../support/cluster-nodes.js';
import { fakeClock } from '../../support/fake-clock.js';
import { startProxy } from '../../support/tcp-proxy.js';

/** A handler that is resolved by hand. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

const settled = async (work: Promise<unknown>) => {
  const pending = Symbol('pending');
  await new Promise(setImmediate);
  return (await Promise.race([work, Promise.resolve(pending)])) !== pending;
};

describe('the cluster transport', () => {
  const nodes = useMesh();

  it('delivers messages in order with their sender, also to a node that has just started', async () => {
    const from: string[] = [];
    const heads: unknown[] = [];
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      onMessage(who, { head }) {
        from.push(who);
        heads.push(head);
        return true;
      },
    });
    const all = Array.from({ length: 500 }, (_, index) => `${index} żółw`);
    for (const each of all) ann.mesh.send('bob', messageOf(each, { to: 'ü' }));
    await eventually(() => bob.received.length === 500);
    expect(bob.received).to.deep.equal(all);
    expect(new Set(from)).to.deep.equal(new Set(['ann']));
    expect(heads[7]).to.deep.equal({ to: 'ü' });
    expect([ann.received, ann.lost(), bob.lost()]).to.deep.equal([[], 0, 0]);
  });

  it('carries text of any size and reports whether it was delivered', async () => {
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      onMessage(_, { head }) {
        return head.is !== 'unwanted';
      },
    });
    const sent = ['', randomBytes(32_768).toString('hex'), 'ż🧵\0"'.repeat(100_000).slice(0, 300_000)];
    for (const body of sent) expect(await ann.mesh.request('bob', 'eve', messageOf(body))).to.equal(true);
    expect(bob.received.map((body, index) => body === sent[index])).to.deep.equal([true, true, true]);
    expect(await ann.mesh.request('bob', 'eve', messageOf('x', { is: 'unwanted' }))).to.equal(false);
    expect(await ann.channel('other').request('bob', 'eve', messageOf('x'))).to.equal(false);
  });

  it('applies backpressure per receiver', async () => {
    const slow = gate();
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      async onMessage(_, { head }) {
        if (head.to === 'slow') await slow.opened;
        return true;
      },
    });
    const waiting = ['1', '2', '3'].map((each) => ann.mesh.request('bob', 'slow', messageOf(each, { to: 'slow' })));
    for (let each = 0; each < 100; each++)
      expect(await ann.mesh.request('bob', 'quick', messageOf('q', { to: 'quick' }))).to.equal(true);
    ann.mesh.send('bob', messageOf('told', { to: 'told' }));
    await eventually(() => bob.received.includes('told'));
    expect(bob.received.filter((each) => /\d/.test(each))).to.deep.equal(['1']);
    expect(await Promise.all(waiting.map(settled))).to.deep.equal([false, false, false]);
    slow.open();
    expect(await Promise.all(waiting)).to.deep.equal([true, true, true]);
    expect(bob.received.filter((each) => /\d/.test(each))).to.deep.equal(['1', '2', '3']);
  });

  it('releases senders to a frozen node within a few pings and reports the loss', async () => {
    const time = fakeClock();
    const proxies: Awaited<ReturnType<typeof startProxy>>[] = [];
    const ann = await nodes.node('ann', { time });
    const bob = await nodes.node('bob', {
      onMessage: () => new Promise<boolean>(() => {}),
      async reached(port) {
        proxies.push(await startProxy(`ws://127.0.0.1:${port}`));
        return proxies[0]!.url.slice('ws://'.length);
      },
    });
    try {
      const answer = ann.mesh.request('bob', 'eve', messageOf('first'));
      const after = ann.mesh.request('bob', 'eve', messageOf('second'));
      await eventually(() => bob.received.length > 0);
      proxies[0]!.holdAnswers();
      for (let ping = 0; ping < 10; ping++) time.pass(1000);
      expect(await Promise.all([answer, after])).to.deep.equal([false, false]);
      expect(bob.received).to.deep.equal(['first']);
    } finally {
      await Promise.all(proxies.map(({ close }) => close()));
    }
  });

  it('does not consider other nodes dead after a pause of its own process', async () => {
    const time = fakeClock();
    const ann = await nodes.node('ann', { time });
    const bob = await nodes.node('bob');
    expect(await ann.mesh.request('bob', 'eve', messageOf('x'))).to.equal(true);
    time.sleep(60_000);
    time.pass(0);
    expect(await ann.mesh.request('bob', 'eve', messageOf('y'))).to.equal(true);
    expect([bob.received, ann.connected()]).to.deep.equal([['x', 'y'], 1]);
  });

  it('reconnects after a connection was cut', async () => {
    const proxies: Awaited<ReturnType<typeof startProxy>>[] = [];
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      async reached(port) {
        proxies.push(await startProxy(`ws://127.0.0.1:${port}`));
        return proxies[0]!.url.slice('ws://'.length);
      },
    });
    try {
      expect(await ann.mesh.request('bob', 'eve', messageOf('before'))).to.equal(true);
      proxies[0]!.releaseAnswers();
      await eventually(() => ann.connected() === 0);
      await eventually(() => ann.mesh.request('bob', 'eve', messageOf('after')));
      expect(bob.received).to.deep.equal(['before', 'after']);
    } finally {
      await Promise.all(proxies.map(({ close }) => close()));
    }
  });

  it('warns of a live node that is unreachable, and not of a killed one', async function () {
    this.timeout(30_000);
    const attempts = { lives: 0, killed: 0 };
    const doors = (['lives', 'killed'] as const).map((name) =>
      createServer((socket) => {
        attempts[name]++;
        socket.destroy();
      }).listen(0, '127.0.0.1'),
    );
    const warnings: string[] = [];
    let beats = 0;
    try {
      await Promise.all(doors.map((door) => once(door, 'listening')));
      for (const [index, name] of (['lives', 'killed'] as const).entries()) {
        nodes.addresses.set(name, `127.0.0.1:${(doors[index]!.address() as AddressInfo).port}`);
      }
      await nodes.node('ann', {
        beats: (of) => (of === 'lives' ? ++beats : 7),
        warned: (message) => warnings.push(message),
      });
      await eventually(() => attempts.lives > 6 && attempts.killed > 6);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.include('cannot connect to a live node');
    } finally {
      for (const door of doors) door.close();
    }
  });

  it('warns a node that others cannot reach it, until they can', async function () {
    this.timeout(30_000);
    const wall = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    const warnings: string[] = [];
    try {
      await once(wall, 'listening');
      const at = `127.0.0.1:${(wall.address() as AddressInfo).port}`;
      const bob = await nodes.node('bob', { reached: async () => at, warned: (text) => warnings.push(text) });
      await nodes.node('ann');
      nodes.look();
      await eventually(() => bob.unreachedBy().includes('ann'));
      nodes.look();
      nodes.look();
      expect(warnings.filter((text) => text.includes('cannot connect to this one'))).to.have.length(1);
      nodes.addresses.set('bob', bob.address);
      await eventually(() => bob.unreachedBy().length === 0);
    } finally {
      wall.close();
    }
  });

  it('fails at once for unknown nodes and nodes that left', async () => {
    const ann = await nodes.node('ann');
    expect(await ann.mesh.request('nobody', 'eve', messageOf('x'))).to.equal(false);
    const bob = await nodes.node('bob', { onMessage: () => new Promise<boolean>(() => {}) });
    const answer = ann.mesh.request('bob', 'eve', messageOf('x'));
    await eventually(() => bob.received.length > 0);
    await bob.close();
    expect(await answer).to.equal(false);
    nodes.look();
    expect(await ann.mesh.request('bob', 'eve', messageOf('y'))).to.equal(false);
    ann.mesh.send('bob', messageOf('z'));
    expect([bob.received, ann.lost() > 0]).to.deep.equal([['x'], true]);
  });

  it('does not talk to another process that reuses the port of a dead node', async () => {
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob');
    nodes.addresses.set('former', bob.address);
    nodes.look();
    expect(await ann.mesh.request('former', 'eve', messageOf('x'))).to.equal(false);
    expect(bob.received).to.deep.equal([]);
  });
});
