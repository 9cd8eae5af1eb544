/** Property: reading the chat and then applying its event frames equals reading it later. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import { applyFrame, comparable, readView } from '../../support/chat-view.js';
import { EventStream } from '../../support/http-spec.js';
import { random } from '../../support/random.js';

// biome-ignore lint/suspicious/noExplicitAny: server answers are checked member by member.
type Any = any;

const NAMES = ['admin', 'ada', 'bob', 'cyd'] as const;

describe("property of the chat's event stream", function () {
  this.timeout(120_000);
  let world: ChatWorld;
  before(async () => {
    world = await startChat();
  });
  after(() => world?.stop());

  /** Performs a random request as a random user; rejected ones change nothing. */
  async function performRandomAction(pick: ReturnType<typeof random>, visibility: string[], posted: Any[]) {
    const who = world[NAMES[pick(4)]!];
    const other = world[NAMES[pick(4)]!];
    const placeId = visibility[pick(visibility.length)]!;
    const message = posted[pick(posted.length)] ?? { id: 'none', replies: [] };
    const reply = message.replies?.[pick(message.replies.length || 1)] ?? 'none';
    const at = placeId.startsWith('dm:') ? `/conversations/${placeId}` : `/channels/${placeId}`;
    const as = async (method: string, path: string, body?: unknown) => (await world.as(who, method, path, body)).body;
    const content = `text ${pick(1_000_000)}`;
    switch (pick(16)) {
      case 0: {
        const { channel } = await as('POST', '/channels', {
          name: content,
          isPrivate: pick(2) === 0,
          members: [other.id],
        });
        return void (channel && visibility.push(channel.id));
      }
      case 1: {
        const members = NAMES.filter(() => pick(2) === 0).map((name) => world[name].id);
        return as('PUT', at, { members, isPrivate: pick(2) === 0, topic: content });
      }
      case 2: {
        const { conversation } = await as('POST', '/conversations', { targetUserId: other.id });
        return void (conversation && !visibility.includes(conversation.id) && visibility.push(conversation.id));
      }
      case 3:
        return pick(4) === 0 ? as('DELETE', at) : as('PUT', '/users/me', { userName: content });
      case 4:
        return as('PUT', `/messages/${message.id}`, { content });
      case 5:
        return pick(3) === 0 && as('DELETE', `/messages/${message.id}`);
      case 6:
        return as('POST', `/messages/${message.id}/pin`, {});
      case 7:
        return as('DELETE', `/messages/${message.id}/pin`);
      case 8:
      case 9:
        return as('POST', `/messages/${message.id}/reactions`, { reaction: `r${pick(3)}` });
      case 10:
        return as('DELETE', `/messages/${message.id}/reactions`, { reaction: `r${pick(3)}` });
      case 11:
      case 12: {
        const { reply: made } = await as('POST', `/messages/${message.id}/thread`, { content });
        return void (made && message.replies.push(made.id));
      }
      case 13:
        return pick(2) === 0
          ? as('PUT', `/messages/${message.id}/thread/${reply}`, { content })
          : as('DELETE', `/messages/${message.id}/thread/${reply}`);
      default: {
        const { message: made } = await as('POST', `${at}/messages`, { content });
        return void (made && posted.push({ id: made.id, replies: [] }));
      }
    }
  }

  for (const seed of [1, 2, 3])
    it(`applying frames to an earlier read equals a later read, for every user (seed ${seed})`, async () => {
      const pick = random(seed * 7919);
      const general = (await world.done(world.ada, 'GET', '/channels')).channels[0].id;
      const visibility: string[] = [general];
      const posted: Any[] = [];
      for (let n = 0; n < 40; n++) await performRandomAction(pick, visibility, posted);
      const views = await Promise.all(NAMES.map((name) => readView(world.base, world[name].token)));
      // Some requests happen before the streams connect.
      for (let n = 0; n < 20; n++) await performRandomAction(pick, visibility, posted);
      const streams = await Promise.all(
        NAMES.map((name, at) =>
          EventStream.to(world.base, {
            token: world[name].token,
            headers: { 'last-event-id': views[at]!.since },
          }),
        ),
      );
      for (let n = 0; n < 80; n++) await performRandomAction(pick, visibility, posted);
      // Everybody receives this event last.
      const { channel: last } = await world.done(world.admin, 'POST', '/channels', { name: `end ${seed}` });
      for (const [at, name] of NAMES.entries()) {
        const { frames } = streams[at]!;
        await eventually(() => frames.some(({ payload }) => payload?.id === last.id));
        expect(frames.map(({ type }) => type)).not.to.include('RESET');
        const { known } = views[at]!;
        for (const each of frames) applyFrame(known, each);
        const { known: later } = await readView(world.base, world[name].token);
        expect(comparable(known, known.partial), name).to.deep.equal(comparable(later, known.partial));
        streams[at]!.close();
      }
    });
});
