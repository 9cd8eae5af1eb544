/** The summary of a thread is right in every answer and frame while two nodes post, delete and edit concurrently. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { ask, EventStream } from '../../support/http-spec.js';
import { random } from '../../support/random.js';

type Any = ReturnType<typeof JSON.parse>;

const ROUNDS = 20;
const AT_ONCE = 6;

describe('thread summaries on two nodes', function () {
  this.timeout(120_000);
  let world: ChatWorld;
  let general: string;
  before(async () => {
    world = await startChat(2);
    general = (await world.done(world.ada, 'GET', '/channels')).channels[0].id;
  });
  after(() => world?.stop());

  for (const seed of [1, 2])
    it(`equal a plain list of replies under concurrent changes (seed ${seed})`, async () => {
      const pick = random(seed * 7919);
      const { message } = await world.done(world.ada, 'POST', `/channels/${general}/messages`, { content: 'parent' });
      const urls = world.nodes.map((node) => node.url('chat'));
      const streams = await Promise.all(urls.map((url) => EventStream.to(url, { token: world.cyd.token })));
      const members = [world.ada, world.bob, world.cyd];
      const posted: { readonly id: string; readonly by: number }[] = [];
      const answers = new Map<string, Any>();

      async function act(round: number): Promise<void> {
        const url = urls[pick(2)]!;
        const by = pick(3);
        const as = (method: string, path: string, body: object = {}, who = by) =>
          ask(url, method, path, { token: members[who]!.token, body });
        const reply = posted[pick(Math.max(1, posted.length))];
        const kind = pick(10);
        if (kind < 5 || !reply) {
          const { status, body } = await as('POST', `/messages/${message.id}/thread`, { content: `reply ${round}` });
          expect(status, JSON.stringify(body)).to.equal(200);
          answers.set(body.reply.id, body.threadMeta);
          posted.push({ id: body.reply.id, by });
        } else if (kind < 7) await as('DELETE', `/messages/${reply.id}`, {}, reply.by);
        else if (kind < 8)
          await as('PUT', `/messages/${reply.id}`, { content: `edited ${round} ${pick(99)}` }, reply.by);
        else if (kind < 9) await as('PUT', `/messages/${message.id}`, { content: `edited ${round} ${pick(99)}` }, 0);
        else await as(pick(2) ? 'POST' : 'DELETE', `/messages/${message.id}/pin`);
      }

      for (let round = 0; round < ROUNDS; round++) await Promise.all(Array.from({ length: AT_ONCE }, () => act(round)));
      const { channel: last } = await world.done(world.admin, 'POST', '/channels', { name: `end ${seed}` });
      const [one = [], two = []] = await Promise.all(
        streams.map(async (stream) => {
          await eventually(() => stream.frames.some(({ payload }) => payload?.id === last.id));
          stream.close();
          return stream.frames.filter(({ type }) => /THREAD_REPLY|UPDATE_MESSAGE/.test(type)) as readonly Any[];
        }),
      );
      expect(one.length).to.be.greaterThan(ROUNDS);
      expect(one).to.deep.equal(two);

      const list: Any[] = [];
      const everyone = new Map<string, object>();
      const summary = () => {
        const newest = list.at(-1);
        if (!newest) return undefined;
        const participants = [...everyone.keys()].filter((id) => list.some(({ author }) => author.id === id));
        const lastReply = { lastReplyAt: newest.createdAt, lastReplyBy: newest.author };
        return { replyCount: list.length, ...lastReply, participants };
      };
      for (const { type, payload } of one) {
        if (type === 'NEW_THREAD_REPLY') {
          list.push(payload.reply);
          everyone.set(payload.author.id, payload.author);
          expect(answers.get(payload.id)).to.deep.equal(payload.threadMeta);
        }
        if (type === 'DELETE_THREAD_REPLY')
          list.splice(
            list.findIndex(({ id }) => id === payload.id),
            1,
          );
        expect(payload.threadMeta ?? undefined, type).to.deep.equal(summary());
      }
      for (const url of urls) {
        const { token } = world.cyd;
        const { messages } = (await ask(url, 'GET', `/channels/${general}/messages`, { token })).body;
        const found = messages.find(({ id }: Any) => id === message.id);
        expect(found.threadMeta).to.deep.equal(summary());
        const { replies } = (await ask(url, 'GET', `/messages/${message.id}/thread?limit=500`, { token })).body;
        expect(replies.map(({ id }: Any) => id)).to.deep.equal(list.map(({ id }) => id));
      }
    });

  const bases = () => world.nodes.map((node) => node.url('chat'));

  it('are as of the edit or pin they answer, also on the node that did not post the replies', async () => {
    const [one = '', two = ''] = bases();
    const { message } = await world.done(world.ada, 'POST', `/channels/${general}/messages`, { content: 'parent' });
    const { token } = world.ada;
    for (let n = 1; n <= 10; n++) {
      await ask(two, 'POST', `/messages/${message.id}/thread`, { token, body: { content: `${n}` } });
      const edit = {
        token,
        body: { content: `edited ${n}` },
        headers: { 'idempotency-key': `edit-${message.id}-${n}` },
      };
      const first = await ask(one, 'PUT', `/messages/${message.id}`, edit);
      expect(first.body.message.threadMeta.replyCount).to.equal(n);
      await ask(two, 'POST', `/messages/${message.id}/pin`, { token, body: {} });
      expect((await ask(one, 'PUT', `/messages/${message.id}`, edit)).body).to.deep.equal(first.body);
    }
  });

  it('belong to replies that can be reacted to once they are announced', async () => {
    const [one = '', two = ''] = bases();
    const { message } = await world.done(world.ada, 'POST', `/channels/${general}/messages`, { content: 'parent' });
    for (const url of [one, two]) {
      const { token } = world.bob;
      const stream = await EventStream.to(url, { token });
      const reacted: Promise<{ status: number }>[] = [];
      const receive = stream.frames.push.bind(stream.frames);
      stream.frames.push = (frame) => {
        const { type, payload } = frame;
        if (type === 'NEW_THREAD_REPLY')
          reacted.push(ask(url, 'POST', `/messages/${payload.id}/reactions`, { token, body: { reaction: '+1' } }));
        return receive(frame);
      };
      for (let n = 0; n < 15; n++)
        await ask(one, 'POST', `/messages/${message.id}/thread`, { token: world.ada.token, body: { content: `${n}` } });
      await eventually(() => reacted.length === 15);
      stream.close();
      expect((await Promise.all(reacted)).map(({ status }) => status)).to.deep.equal(Array(15).fill(200));
    }
  });

  it('end with the deletion of their message, which is answered once', async () => {
    for (let n = 0; n < 15; n++) {
      const [posting = '', deleting = ''] = n % 2 ? bases() : bases().reverse();
      const { token } = world.ada;
      const { body } = await ask(deleting, 'POST', `/channels/${general}/messages`, {
        token,
        body: { content: `${n}` },
      });
      const { id } = body.message;
      const { reply } = (await ask(posting, 'POST', `/messages/${id}/thread`, { token, body: { content: 'x' } })).body;
      const stream = await EventStream.to(deleting, { token: world.cyd.token });
      const [deleted] = await Promise.all([
        ask(deleting, 'DELETE', `/messages/${id}`, { token }),
        ask(posting, 'PUT', `/messages/${reply.id}`, { token, body: { content: 'changed' } }),
        ask(posting, 'POST', `/messages/${reply.id}/reactions`, { token, body: { reaction: '+1' } }),
      ]);
      expect(deleted.status).to.equal(200);
      const { channel: last } = await world.done(world.admin, 'POST', '/channels', { name: `last ${n}` });
      await eventually(() => stream.frames.some(({ payload }) => payload?.id === last.id));
      stream.close();
      const types = stream.frames.map(({ type }) => type);
      const after = types.slice(types.indexOf('DELETE_MESSAGE') + 1);
      expect(after.filter((type) => /THREAD|REACTION|MESSAGE/.test(type))).to.deep.equal([]);
    }
  });
});
