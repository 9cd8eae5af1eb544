/** Unanswered WebSocket messages, complete or not, are bounded per client and in total. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { createBudgets } from '../../../../adapters/http/server/budgets.js';
import { createBudget } from '../../../../application/concurrency/limiters.js';
import { serveTalk, type Talk } from './toy-chat.js';

const MiB = 1024 * 1024;

describe('unanswered messages of a WebSocket session', () => {
  let talk: Talk;
  afterEach(() => talk.close());

  it('count their bytes toward the budget of the network, few per session', async () => {
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const bodies = createBudget('bodies', 4 * MiB);
    talk = await serveTalk({ budgets: { ...createBudgets(), bodies }, meanwhile: () => gate });
    const talker = await talk.open();
    for (let index = 0; index < 20; index++) talker.say('x'.repeat(200_000), { to: 'nobody' });
    // One is being answered, and the first one waits.
    await eventually(() => expect(bodies.used()).to.be.within(400_000, 600_000));
    openGate();
    await eventually(() => expect(talk.received).to.have.length(20));
    await eventually(() => expect(bodies.used()).to.equal(0));
    expect(talker.socket.readyState).to.equal(WebSocket.OPEN);
  });

  it('are released when their sender has left', async () => {
    let openGate = () => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    const bodies = createBudget('bodies', MiB);
    talk = await serveTalk({ budgets: { ...createBudgets(), bodies }, meanwhile: () => gate });
    const talker = await talk.open();
    for (let index = 0; index < 10; index++) talker.say('x'.repeat(1000), { to: 'nobody' });
    await eventually(() => expect(bodies.used()).to.be.greaterThan(10_000));
    talker.socket.terminate();
    await eventually(() => expect(talk.left).to.have.length(1));
    // One is still being answered.
    expect(bodies.used()).to.be.within(1000, 2000);
    openGate();
    await eventually(() => expect(bodies.used()).to.equal(0));
    expect(talk.received).to.have.length(1);
  });

  it('are refused when there is no budget, and the session continues', async () => {
    const bodies = createBudget('bodies', MiB);
    talk = await serveTalk({ budgets: { ...createBudgets(), bodies } });
    const talker = await talk.open();
    const other = bodies.reserve('198.51.100.1');
    other.acquire(MiB);
    talker.say('no room for it');
    await eventually(() => expect(talk.misunderstood).to.deep.equal([{ why: 'too-many' }]));
    other.release();
    talker.say('but for this');
    await eventually(() => expect(talk.received).to.have.length(1));
    await eventually(() => expect(bodies.used()).to.equal(0));
  });

  it('close a session with 1013 when many clients leave large messages unfinished', async () => {
    const bodies = createBudget('bodies', MiB);
    talk = await serveTalk({ budgets: { ...createBudgets(), bodies } });
    const half = '{"type":"say","text":"'.padEnd(300_000, 'x');
    const [first, second, third, honest] = await Promise.all(['a', 'b', 'c', 'd'].map((each) => talk.open(each)));
    first!.socket.send(half, { fin: false });
    await eventually(() => expect(bodies.used()).to.be.greaterThan(250_000));
    second!.socket.send(half, { fin: false });
    await eventually(() => expect(bodies.used()).to.be.greaterThan(500_000));
    third!.socket.send(half, { fin: false });
    expect((await third!.closed).code).to.equal(1013);
    honest!.say('is heard');
    await eventually(() => expect(honest!.received).to.have.length(1));
    first!.socket.send('"}', { fin: true });
    await eventually(() => expect(first!.received).to.have.length(1));
    second!.socket.terminate();
    await eventually(() => expect(bodies.used()).to.equal(0));
  });

  it('close a session with 1008 for a message in thousands of fragments', async () => {
    talk = await serveTalk();
    const talker = await talk.open();
    talker.socket.send('"', { fin: false });
    for (let pieces = 0; pieces < 5000; pieces++) talker.socket.send('x', { fin: false });
    expect((await talker.closed).code).to.equal(1008);
  });
});
