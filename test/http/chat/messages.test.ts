/** Messages over HTTP: pages, edits, pins, quotes, mentions and idempotency. */
import { expect } from 'chai';
import { type AnyBody, useChannel } from '../../support/chat-scenario.js';

describe('messages of the chat', function () {
  this.timeout(60_000);
  const world = useChannel();
  const { post, page } = world;
  const contents = (messages: readonly AnyBody[]) => messages.map(({ content }) => content);

  it('are returned completely, and read back the same', async () => {
    const message = await post(world.ada, 'hello');
    expect(message).to.deep.include({
      channelId: world.channel,
      author: { id: world.ada.id, userName: 'ada' },
      content: 'hello',
      attachments: [],
      images: [],
      mentions: [],
      quotedMessageId: null,
      pinnedAt: null,
      updatedAt: null,
      reactions: {},
    });
    expect(message.createdAt).to.be.a('number');
    expect(message).not.to.have.property('threadMeta');
    expect(await page()).to.deep.equal([message]);
  });

  it('are paged from the newest, each page in order, and before a given message', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 55; n++) ids.push((await post(world.bob, `m${n}`)).id);
    const all = Array.from({ length: 55 }, (_, n) => `m${n}`);
    expect(contents(await page())).to.deep.equal(all.slice(5));
    expect(contents(await page('?limit=3'))).to.deep.equal(all.slice(52));
    expect(contents(await page('?limit=1000'))).to.deep.equal(all);
    expect(contents(await page(`?limit=2&before=${ids[10]}`))).to.deep.equal(['m8', 'm9']);
    expect(contents(await page(`?before=${ids[2]}`))).to.deep.equal(['m0', 'm1']);
    expect(await page(`?before=${ids[0]}`)).to.deep.equal([]);
    const other = await post(world.ada, 'other', await world.open());
    for (const query of [
      'limit=0',
      'limit=-1',
      'limit=x',
      'limit=1.5',
      'limit=',
      'before=unknown',
      `before=${other.id}`,
      'after=unknown',
      `after=${other.id}`,
    ]) {
      const { status } = await world.as(world.ada, 'GET', `/channels/${world.channel}/messages?${query}`);
      expect(status, query).to.equal(400);
    }
    // A deleted message keeps its place as a cursor in its own channel, also where its page was cached.
    expect(contents(await page(`?limit=2&before=${ids[30]}`))).to.deep.equal(['m28', 'm29']);
    for (const n of [54, 30, 29]) await world.done(world.bob, 'DELETE', `/messages/${ids[n]}`);
    await world.done(world.ada, 'DELETE', `/messages/${other.id}`);
    expect(contents(await page(`?limit=2&before=${ids[54]}`))).to.deep.equal(['m52', 'm53']);
    for (const n of [30, 29]) expect(contents(await page(`?limit=2&before=${ids[n]}`))).to.deep.equal(['m27', 'm28']);
    for (const before of [other.id, `${ids[30]!.slice(0, -1)}${ids[30]!.endsWith('-') ? '_' : '-'}`])
      expect(
        (await world.as(world.ada, 'GET', `/channels/${world.channel}/messages?before=${before}`)).status,
      ).to.equal(400);
  });

  it('are paged forward after a given message, also a deleted one, up to the newest', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 6; n++) ids.push((await post(world.bob, `m${n}`)).id);
    expect(contents(await page(`?limit=2&after=${ids[1]}`))).to.deep.equal(['m2', 'm3']);
    expect(contents(await page(`?after=${ids[3]}`))).to.deep.equal(['m4', 'm5']);
    expect(contents(await page(`?after=${ids[0]}&before=${ids[3]}`))).to.deep.equal(['m1', 'm2']);
    expect(await page(`?after=${ids[5]}`)).to.deep.equal([]);
    await world.done(world.bob, 'DELETE', `/messages/${ids[2]}`);
    expect(contents(await page(`?limit=1&after=${ids[2]}`))).to.deep.equal(['m3']);
    const replies: string[] = [];
    for (const content of ['r0', 'r1'])
      replies.push((await world.done(world.ada, 'POST', `/messages/${ids[0]}/thread`, { content })).reply.id);
    const { body } = await world.as(world.ada, 'GET', `/messages/${ids[0]}/thread?after=${replies[0]}`);
    expect(contents(body.replies)).to.deep.equal(['r1']);
  });

  it('have ids in order of time, as do replies; ids derived from an idempotency key reveal no time', async () => {
    const { ada, channel } = world;
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) ids.push((await post(ada, `m${n}`)).id);
    const replies: string[] = [];
    for (let n = 0; n < 20; n++)
      replies.push((await world.done(ada, 'POST', `/messages/${ids[0]}/thread`, { content: `r${n}` })).reply.id);
    for (const each of [ids, replies.map((id) => id.slice(id.indexOf('.') + 1))]) {
      // Only the leading part encodes the time; several may be created in one millisecond.
      const times = each.map((id) => id.slice(0, 6));
      expect([...times].sort()).to.deep.equal(times);
      expect(new Set(each).size).to.equal(20);
    }
    const keyedPrefixes = await Promise.all(
      ['one', 'two', 'three'].map(async (key) => {
        const headers = { 'idempotency-key': `no-time-${key}` };
        const made = await world.as(ada, 'POST', `/channels/${channel}/messages`, { content: key }, { headers });
        return made.body.message.id.slice(0, 4);
      }),
    );
    expect(keyedPrefixes).not.to.include(ids[0]!.slice(0, 4));
  });

  it('reject empty, oversized and invalid content, and store nothing', async () => {
    const wrong: readonly unknown[] = [
      {},
      { content: '' },
      { content: ' \n\t' },
      { content: 7 },
      { content: 'x'.repeat(8001) },
      { content: 'x', attachments: 'none' },
      { content: 'x', attachments: [{ filename: 'a' }] },
      {
        content: 'x',
        attachments: [{ filename: '1-a.txt', originalName: 'a.txt', contentType: 'text/plain', size: 1 }],
      },
      { content: 'x', images: ['1-a.png'] },
      { images: [7] },
      { content: 'x', quotedMessageId: 'unknown' },
      { content: 'x', quotedMessageId: 7 },
      '[',
      '"text"',
    ];
    for (const body of wrong) {
      const { status, body: answer } = await world.as(world.ada, 'POST', `/channels/${world.channel}/messages`, body);
      expect(status, JSON.stringify(body)).to.equal(400);
      expect(answer.error).to.be.a('string');
    }
    expect(await page()).to.deep.equal([]);
    const longest = '😀'.repeat(8000);
    expect((await post(world.ada, longest)).content).to.equal(longest);
  });

  it('are edited by their author only, who gets the new version', async () => {
    const message = await post(world.ada, 'hello');
    const { message: edited } = await world.done(world.ada, 'PUT', `/messages/${message.id}`, {
      content: 'hi',
    });
    expect(edited).to.deep.include({ id: message.id, content: 'hi', createdAt: message.createdAt });
    expect(edited.updatedAt).to.be.at.least(message.createdAt);
    expect(await page()).to.deep.equal([edited]);
    for (const [who, status] of [
      [world.bob, 403],
      [world.admin, 403],
      [undefined, 401],
    ] as const)
      expect((await world.as(who, 'PUT', `/messages/${message.id}`, { content: 'x' })).status).to.equal(status);
    expect((await world.as(world.ada, 'PUT', `/messages/${message.id}`, { content: '  ' })).status).to.equal(400);
    expect((await world.as(world.ada, 'PUT', '/messages/unknown', { content: 'x' })).status).to.equal(404);
    expect(await page()).to.deep.equal([edited]);
  });

  it('keep a quote of a deleted message when edited, and never quote themselves', async () => {
    const quoted = await post(world.bob, 'gone soon');
    const { id } = await post(world.ada, { content: 'see', quotedMessageId: quoted.id });
    const edit = (body: object) => world.as(world.ada, 'PUT', `/messages/${id}`, body);
    await world.done(world.bob, 'DELETE', `/messages/${quoted.id}`);
    const { status, body } = await edit({ content: 'look', quotedMessageId: quoted.id });
    expect([status, body.message?.quotedMessageId, body.message?.content]).to.deep.equal([200, quoted.id, 'look']);
    for (const refused of [{}, { unknown: 1 }, { quotedMessageId: id }]) {
      const answered = await edit(refused);
      expect(answered.status, JSON.stringify(refused)).to.equal(400);
      expect(answered.body.error).to.be.a('string');
    }
    expect((await edit({ quotedMessageId: null })).status).to.equal(200);
    expect((await edit({ quotedMessageId: quoted.id })).status, 'a new quote').to.equal(400);
    const [latest] = await page();
    expect(latest).to.include({ content: 'look', quotedMessageId: null });
  });

  it('are deleted by their author or an admin', async () => {
    const [one, two] = [await post(world.ada, 'one'), await post(world.ada, 'two')];
    expect((await world.as(world.bob, 'DELETE', `/messages/${one.id}`)).status).to.equal(403);
    expect(await world.done(world.ada, 'DELETE', `/messages/${one.id}`)).to.deep.equal({ success: true });
    await world.done(world.admin, 'DELETE', `/messages/${two.id}`);
    expect(await page()).to.deep.equal([]);
    for (const [method, path, body] of [
      ['PUT', '', { content: 'x' }],
      ['DELETE', '', undefined],
      ['POST', '/pin', {}],
      ['DELETE', '/pin', undefined],
      ['POST', '/reactions', { reaction: '+1' }],
      ['DELETE', '/reactions', { reaction: '+1' }],
      ['GET', '/thread', undefined],
      ['POST', '/thread', { content: 'x' }],
      ['GET', '/history', undefined],
    ] as const)
      for (const id of [one.id, 'unknown'])
        expect((await world.as(world.ada, method, `/messages/${id}${path}`, body)).status, method + path).to.equal(404);
  });

  it('are pinned by anybody who sees them, keep the first pin time, and are listed by newest pin', async () => {
    const [one, two, three] = [
      await post(world.ada, 'one'),
      await post(world.ada, 'two'),
      await post(world.ada, 'three'),
    ];
    const pin = (id: string) => world.done(world.bob, 'POST', `/messages/${id}/pin`, {});
    const pinned = async () => (await world.done(world.cyd, 'GET', `/channels/${world.channel}/pins`)).messages;
    for (const { id } of [two, three, one]) await pin(id);
    const [first] = await pinned();
    expect(first.pinnedAt).to.be.a('number');
    expect(contents(await pinned())).to.deep.equal(['one', 'three', 'two']);
    const again = await pin(one.id);
    expect(again.message).to.include({ id: one.id, pinnedAt: first.pinnedAt });
    expect(contents(await pinned())).to.deep.equal(['one', 'three', 'two']);
    const off = await world.done(world.cyd, 'DELETE', `/messages/${three.id}/pin`);
    expect(off.message).to.include({ id: three.id, pinnedAt: null });
    await world.done(world.cyd, 'DELETE', `/messages/${three.id}/pin`);
    expect(contents(await pinned())).to.deep.equal(['one', 'two']);
    await world.done(world.ada, 'DELETE', `/messages/${one.id}`);
    expect(contents(await pinned())).to.deep.equal(['two']);
    expect((await page()).map(({ pinnedAt }) => pinnedAt !== null)).to.deep.equal([true, false]);
  });

  it('quote messages and replies of their channel only', async () => {
    const first = await post(world.ada, 'first');
    const { reply } = await world.done(world.bob, 'POST', `/messages/${first.id}/thread`, {
      content: 'reply',
    });
    const quoting = await post(world.bob, { content: 'see', quotedMessageId: first.id });
    expect(quoting.quotedMessageId).to.equal(first.id);
    expect((await post(world.bob, { content: 'see', quotedMessageId: reply.id })).quotedMessageId).to.equal(reply.id);
    const { message } = await world.done(world.bob, 'PUT', `/messages/${quoting.id}`, {
      quotedMessageId: null,
    });
    expect(message).to.deep.include({ quotedMessageId: null, content: 'see' });
    const other = await post(world.ada, 'other', await world.open());
    for (const quotedMessageId of [other.id, 'unknown', `${first.id}.unknown`, ''])
      expect(
        (
          await world.as(world.ada, 'POST', `/channels/${world.channel}/messages`, {
            content: 'x',
            quotedMessageId,
          })
        ).status,
      ).to.equal(400);
  });

  it('mention the users whose names they contain, and special names', async () => {
    const { mentions } = await post(world.ada, 'hello @bob, @CYD and (@channel)! mail ada@bob.org @nobody');
    expect(mentions).to.deep.equal([world.bob.id, world.cyd.id, '@channel']);
    expect((await page())[0].mentions).to.deep.equal(mentions);
    const { message } = await world.done(world.ada, 'PUT', `/messages/${(await page())[0].id}`, {
      content: 'now @here',
    });
    expect(message.mentions).to.deep.equal(['@here']);
  });

  it('show the current name of their author', async () => {
    const dan = await world.join('dan');
    await post(dan, 'hello');
    await world.done(dan, 'PUT', '/users/me', { userName: 'Daniel' });
    expect((await page())[0].author).to.deep.equal({ id: dan.id, userName: 'Daniel' });
    await world.done(world.admin, 'DELETE', `/users/${dan.id}`);
    expect((await page())[0].author.userName).to.equal('Daniel');
  });

  it('are posted and deleted once per idempotency key', async () => {
    const headers = { 'idempotency-key': 'say-it-once' };
    const body = { content: 'once' };
    const first = await world.as(world.ada, 'POST', `/channels/${world.channel}/messages`, body, { headers });
    const again = await world.as(world.ada, 'POST', `/channels/${world.channel}/messages`, body, { headers });
    expect(again.body).to.deep.equal(first.body);
    const other = { content: 'twice' };
    expect(
      (await world.as(world.ada, 'POST', `/channels/${world.channel}/messages`, other, { headers })).status,
    ).to.equal(422);
    const own = await world.as(world.bob, 'POST', `/channels/${world.channel}/messages`, body, { headers });
    expect(own.body.message.id).not.to.equal(first.body.message.id);
    expect(contents(await page())).to.deep.equal(['once', 'once']);
    const path = `/messages/${first.body.message.id}`;
    const options = { headers: { 'idempotency-key': 'delete-it-once' } };
    for (const round of [1, 2, 3])
      expect((await world.as(world.ada, 'DELETE', path, {}, options)).status, `round ${round}`).to.equal(200);
    expect((await world.as(world.ada, 'DELETE', path, {})).status).to.equal(404);
  });

  it('get their first answer again when what they quote is gone, and are not found when they are gone', async () => {
    const quoted = await post(world.ada, 'quoted');
    const parent = await post(world.ada, 'parent');
    const body = { content: 'as you say', quotedMessageId: quoted.id };
    const paths = [`/channels/${world.channel}/messages`, `/messages/${parent.id}/thread`];
    const send = (path: string) =>
      world.as(world.bob, 'POST', path, body, { headers: { 'idempotency-key': 'quote-it' } });
    const first = await Promise.all(paths.map(send));
    await world.done(world.ada, 'DELETE', `/messages/${quoted.id}`);
    const again = await Promise.all(paths.map(send));
    expect(again.map(({ status, body }) => [status, body])).to.deep.equal(first.map(({ body }) => [200, body]));
    const other = await world.as(world.bob, 'POST', paths[0]!, body);
    expect(other.status).to.equal(400);
    await world.done(world.bob, 'DELETE', `/messages/${first[0]!.body.message.id}`);
    expect((await send(paths[0]!)).status).to.equal(404);
  });
});
