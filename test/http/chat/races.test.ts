/** Concurrent requests on one node and on two: unique names, and read-your-writes across nodes. */
import { expect } from 'chai';
import { maxPosition } from '../../../application/consistency/index.js';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { ask } from '../../support/http-spec.js';

const ROUNDS = 50;

describe('chat on two nodes', function () {
  this.timeout(120_000);
  let world: ChatWorld;
  let urls: readonly [string, string];
  before(async () => {
    world = await startChat(2);
    urls = [world.nodes[0]!.url('chat'), world.nodes[1]!.url('chat')];
  });
  after(() => world?.stop());

  const create = (base: string, token: string, name: string) =>
    ask(base, 'POST', '/channels', { token, body: { name } });
  const { one, two } = {
    one: () => [urls[0], urls[0]] as const,
    two: () => urls,
  };

  for (const [where, nodes] of [
    ['one node', one],
    ['two nodes', two],
  ] as const)
    it(`gives a name to one of two concurrent requests on ${where}, ${ROUNDS} times`, async () => {
      const before = (await world.done(world.ada, 'GET', '/channels')).channels.length;
      for (let round = 0; round < ROUNDS; round++) {
        const [a, b] = nodes();
        const name = `${where} ${round}`;
        const answers = await Promise.all([
          create(a, world.ada.token, name),
          create(b, world.bob.token, round % 2 ? name : ` ${name.toUpperCase()}`),
        ]);
        expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 400]);
      }
      const after = (await world.done(world.ada, 'GET', '/channels')).channels.length;
      expect(after - before).to.equal(ROUNDS);
    });

  it('shows on one node what the other has answered, given its position', async () => {
    const { token } = world.ada;
    for (let round = 0; round < 10; round++) {
      const [a, b] = round % 2 ? [urls[1], urls[0]] : urls;
      const made = await create(a, token, `visible ${round}`);
      const { id } = made.body.channel;
      const seen = (position: string | null) => ({ token, headers: { 'if-position': position ?? '' } });
      const listed = await ask(b, 'GET', '/channels', seen(made.headers.get('position')));
      expect(listed.body.channels.map((each: { id: string }) => each.id)).to.include(id);
      const posted = await ask(b, 'POST', `/channels/${id}/messages`, {
        token,
        body: { content: `m${round}` },
      });
      const read = await ask(a, 'GET', `/channels/${id}/messages`, seen(posted.headers.get('position')));
      expect(read.body.messages).to.deep.equal([posted.body.message]);
      expect(BigInt(read.headers.get('position') ?? 0) >= BigInt(posted.headers.get('position') ?? 1)).to.equal(true);
      const reacted = await ask(a, 'POST', `/messages/${posted.body.message.id}/reactions`, {
        token,
        body: { reaction: '+1' },
      });
      const again = await ask(b, 'GET', `/channels/${id}/messages`, seen(reacted.headers.get('position')));
      expect(again.body.messages[0].reactions).to.deep.equal({ '+1': [world.ada.id] });
      const replied = await ask(b, 'POST', `/messages/${posted.body.message.id}/thread`, {
        token,
        body: { content: 'r' },
      });
      const thread = await ask(
        a,
        'GET',
        `/messages/${posted.body.message.id}/thread`,
        seen(replied.headers.get('position')),
      );
      expect(thread.body.replies).to.deep.equal([replied.body.reply]);
    }
  });

  it('stores each concurrent reaction and pin once, and counts every reply', async () => {
    const { token } = world.ada;
    const { channel } = (await create(urls[0], token, 'once')).body;
    const posted = await ask(urls[0], 'POST', `/channels/${channel.id}/messages`, {
      token,
      body: { content: 'x' },
    });
    const path = `/messages/${posted.body.message.id}`;
    const many = Array.from({ length: 10 }, (_, n) => n);
    const pins = await Promise.all(many.map((n) => ask(urls[n % 2]!, 'POST', `${path}/pin`, { token, body: {} })));
    expect(new Set(pins.map(({ body }) => body.message.pinnedAt)).size).to.equal(1);
    await Promise.all(
      many.map((n) => ask(urls[n % 2]!, 'POST', `${path}/reactions`, { token, body: { reaction: '+1' } })),
    );
    const replies = await Promise.all(
      many.map((n) => ask(urls[n % 2]!, 'POST', `${path}/thread`, { token, body: { content: `r${n}` } })),
    );
    const counts = replies.map(({ body }) => body.threadMeta.replyCount).sort((a, b) => a - b);
    expect(counts).to.deep.equal(many.map((n) => n + 1));
    const { history } = (await ask(urls[1], 'GET', `${path}/history`, { token })).body;
    expect(history).to.have.length(1);
    const position = replies.map(({ headers }) => BigInt(headers.get('position')!)).reduce(maxPosition);
    const headers = { 'if-position': String(position) };
    const { messages } = (await ask(urls[1], 'GET', `/channels/${channel.id}/messages`, { token, headers })).body;
    expect(messages[0].reactions).to.deep.equal({ '+1': [world.ada.id] });
    expect(messages[0].threadMeta.replyCount).to.equal(10);
  });
});
