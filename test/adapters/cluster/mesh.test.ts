/** What nodes tell each other over real sockets: in order, whole, at the pace of who hears it, and of nobody else. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { said, useMesh } from '../../support/cluster-nodes.js';
import { fakeClock } from '../../support/fake-clock.js';
import { startProxy } from '../../support/tcp-proxy.js';

/** Something that is let go on by hand. */
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

describe('the mesh', () => {
  const nodes = useMesh();

  it('tells in order, as it is, and by whom; also to one that has come a moment ago', async () => {
    const from: string[] = [];
    const heads: unknown[] = [];
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      hear(who, { head }) {
        from.push(who);
        heads.push(head);
        return true;
      },
    });
    const all = Array.from({ length: 500 }, (_, index) => `${index} żółw`);
    for (const each of all) ann.mesh.send('bob', said(each, { to: 'ü' }));
    await eventually(() => bob.heard.length === 500);
    expect(bob.heard).to.deep.equal(all);
    expect(new Set(from)).to.deep.equal(new Set(['ann']));
    expect(heads[7]).to.deep.equal({ to: 'ü' });
    expect([ann.heard, ann.lost(), bob.lost()]).to.deep.equal([[], 0, 0]);
  });

  it('carries whatever text, however large, and answers whether they came to anybody', async () => {
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      hear(_, { head }) {
        return head.is !== 'unwanted';
      },
    });
    const sent = ['', randomBytes(32_768).toString('hex'), 'ż🧵\0"'.repeat(100_000).slice(0, 300_000)];
    for (const body of sent) expect(await ann.mesh.request('bob', 'eve', said(body))).to.equal(true);
    expect(bob.heard.map((body, index) => body === sent[index])).to.deep.equal([true, true, true]);
    expect(await ann.mesh.request('bob', 'eve', said('x', { is: 'unwanted' }))).to.equal(false);
    expect(await ann.channel('other').request('bob', 'eve', said('x'))).to.equal(false);
  });

  it('waits for who reads slowly with what is for them, and with nothing else', async () => {
    const slow = gate();
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      async hear(_, { head }) {
        if (head.to === 'slow') await slow.opened;
        return true;
      },
    });
    const waiting = ['1', '2', '3'].map((each) => ann.mesh.request('bob', 'slow', said(each, { to: 'slow' })));
    for (let each = 0; each < 100; each++)
      expect(await ann.mesh.request('bob', 'quick', said('q', { to: 'quick' }))).to.equal(true);
    ann.mesh.send('bob', said('told', { to: 'told' }));
    await eventually(() => bob.heard.includes('told'));
    expect(bob.heard.filter((each) => /\d/.test(each))).to.deep.equal(['1']);
    expect(await Promise.all(waiting.map(settled))).to.deep.equal([false, false, false]);
    slow.open();
    expect(await Promise.all(waiting)).to.deep.equal([true, true, true]);
    expect(bob.heard.filter((each) => /\d/.test(each))).to.deep.equal(['1', '2', '3']);
  });

  it('lets go within a few pings who waits for a node that is frozen: what it was told is lost, and told so', async () => {
    const time = fakeClock();
    const proxies: Awaited<ReturnType<typeof startProxy>>[] = [];
    const ann = await nodes.node('ann', { time });
    const bob = await nodes.node('bob', {
      hear: () => new Promise<boolean>(() => {}),
      async reached(port) {
        proxies.push(await startProxy(`ws://127.0.0.1:${port}`));
        return proxies[0]!.url.slice('ws://'.length);
      },
    });
    try {
      const asked = ann.mesh.request('bob', 'eve', said('first'));
      const after = ann.mesh.request('bob', 'eve', said('second'));
      await eventually(() => bob.heard.length > 0);
      proxies[0]!.holdAnswers();
      for (let ping = 0; ping < 10; ping++) time.pass(1000);
      expect(await Promise.all([asked, after])).to.deep.equal([false, false]);
      expect(bob.heard).to.deep.equal(['first']);
    } finally {
      await Promise.all(proxies.map(({ close }) => close()));
    }
  });

  it('does not take itself for dead where it was paused, and the others answer', async () => {
    const time = fakeClock();
    const ann = await nodes.node('ann', { time });
    const bob = await nodes.node('bob');
    expect(await ann.mesh.request('bob', 'eve', said('x'))).to.equal(true);
    time.sleep(60_000);
    time.pass(0);
    expect(await ann.mesh.request('bob', 'eve', said('y'))).to.equal(true);
    expect([bob.heard, ann.connected()]).to.deep.equal([['x', 'y'], 1]);
  });

  it('comes back to a node whose connection was cut', async () => {
    const proxies: Awaited<ReturnType<typeof startProxy>>[] = [];
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob', {
      async reached(port) {
        proxies.push(await startProxy(`ws://127.0.0.1:${port}`));
        return proxies[0]!.url.slice('ws://'.length);
      },
    });
    try {
      expect(await ann.mesh.request('bob', 'eve', said('before'))).to.equal(true);
      proxies[0]!.releaseAnswers();
      await eventually(() => ann.connected() === 0);
      await eventually(() => ann.mesh.request('bob', 'eve', said('after')));
      expect(bob.heard).to.deep.equal(['before', 'after']);
    } finally {
      await Promise.all(proxies.map(({ close }) => close()));
    }
  });

  it('warns of a node that lives where nobody reaches it, and not of one that was killed', async function () {
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

  it('tells a node that others can not reach it, until they can', async function () {
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

  it('tells at once that nobody is there, of whom nobody knows and of who has gone', async () => {
    const ann = await nodes.node('ann');
    expect(await ann.mesh.request('nobody', 'eve', said('x'))).to.equal(false);
    const bob = await nodes.node('bob', { hear: () => new Promise<boolean>(() => {}) });
    const asked = ann.mesh.request('bob', 'eve', said('x'));
    await eventually(() => bob.heard.length > 0);
    await bob.close();
    expect(await asked).to.equal(false);
    nodes.look();
    expect(await ann.mesh.request('bob', 'eve', said('y'))).to.equal(false);
    ann.mesh.send('bob', said('z'));
    expect([bob.heard, ann.lost() > 0]).to.deep.equal([['x'], true]);
  });

  it('does not speak with another process that has got the port of one that has gone', async () => {
    const ann = await nodes.node('ann');
    const bob = await nodes.node('bob');
    nodes.addresses.set('former', bob.address);
    nodes.look();
    expect(await ann.mesh.request('former', 'eve', said('x'))).to.equal(false);
    expect(bob.heard).to.deep.equal([]);
  });
});
