/** Reactions to messages over HTTP. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { useChannel } from '../../support/chat-scenario.js';
import { EventStream, type Member } from '../../support/http-spec.js';

describe('reactions in the chat', function () {
  this.timeout(60_000);
  const world = useChannel();
  const { post, page } = world;

  it('are stored once per user and reaction', async () => {
    const { id } = await post(world.ada, 'hello');
    const react = (who: Member, method: 'POST' | 'DELETE', reaction: string) =>
      world.done(who, method, `/messages/${id}/reactions`, { reaction }).then(({ message }) => message);
    expect(await react(world.ada, 'POST', '👍')).to.deep.include({ id, reactions: { '👍': [world.ada.id] } });
    await react(world.ada, 'POST', '👍');
    const both = await react(world.bob, 'POST', '👍');
    expect(both.reactions).to.deep.equal({ '👍': [world.ada.id, world.bob.id] });
    await react(world.bob, 'POST', 'x'.repeat(32));
    expect((await page())[0].reactions).to.deep.equal({
      '👍': [world.ada.id, world.bob.id],
      ['x'.repeat(32)]: [world.bob.id],
    });
    await react(world.bob, 'DELETE', 'x'.repeat(32));
    await react(world.bob, 'DELETE', 'x'.repeat(32));
    expect((await react(world.ada, 'DELETE', '👍')).reactions).to.deep.equal({ '👍': [world.bob.id] });
    expect((await page())[0].reactions).to.deep.equal({ '👍': [world.bob.id] });
    for (const reaction of ['', '  ', 'x'.repeat(33), 7, undefined])
      for (const method of ['POST', 'DELETE'])
        expect((await world.as(world.ada, method, `/messages/${id}/reactions`, { reaction })).status).to.equal(400);
  });

  it('may be any text, including names of object members, and are delivered to streams', async () => {
    const { id } = await post(world.ada, 'hello');
    await page();
    const stream = await EventStream.to(world.base, { token: world.bob.token });
    try {
      const reactions = ['constructor', '__proto__', 'toString', '+1'];
      for (const reaction of reactions) await world.done(world.ada, 'POST', `/messages/${id}/reactions`, { reaction });
      await eventually(() => stream.frames.some(({ payload }) => payload.reaction === '+1'));
      const frames = await stream.received(1, 'NEW_REACTION');
      expect(frames.map(({ payload }) => payload.reaction)).to.deep.equal(reactions);
      const reacted = new Map(Object.entries((await page())[0].reactions));
      expect([...reacted]).to.deep.equal(reactions.map((each) => [each, [world.ada.id]]));
      for (const reaction of reactions)
        await world.done(world.ada, 'DELETE', `/messages/${id}/reactions`, { reaction });
      await eventually(() => stream.frames.filter(({ type }) => type === 'DELETE_REACTION').length === 4);
      expect(Object.entries((await page())[0].reactions)).to.deep.equal([]);
    } finally {
      stream.close();
    }
  });

  it('are all returned when there are many', async () => {
    const { id } = await post(world.ada, 'hello');
    const people = [world.ada, world.bob, world.cyd];
    const expected: { [reaction: string]: string[] } = {};
    for (let n = 0; n < 70; n++) {
      const who = people[n % 3]!;
      await world.done(who, 'POST', `/messages/${id}/reactions`, { reaction: `r${n % 40}` });
      expected[`r${n % 40}`] = [...new Set([...(expected[`r${n % 40}`] ?? []), who.id])];
    }
    expect((await page())[0].reactions).to.deep.equal(expected);
  });
});
