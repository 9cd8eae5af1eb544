/** Searching over HTTP: matches, visibility and order, and equality with a full scan. */
import { expect } from 'chai';
import fc from 'fast-check';
import { useChat } from '../../support/chat-scenario.js';
import { ask, type Member } from '../../support/http-spec.js';

interface Found {
  readonly id: string;
  readonly channelId: string;
  readonly content: string;
  readonly author: { readonly id: string; readonly userName: string; readonly isBot?: boolean };
  readonly createdAt: number;
  readonly threadId?: string;
}

describe('searching the chat', function () {
  this.timeout(120_000);
  const chat = useChat(2);
  let ada: Member;
  let bob: Member;
  let open: string;

  before(async () => {
    ada = await chat.join('ada');
    bob = await chat.join('bob');
    open = await channel('Open');
  });

  const done = async (who: Member, method: string, path: string, body?: unknown) => {
    const { status, body: answer } = await ask(chat.base, method, path, { token: who.token, body });
    if (status !== 200) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
    return answer;
  };
  const channel = async (name: string, more = {}, who = ada) =>
    (await done(who, 'POST', '/channels', { name, ...more })).channel.id as string;
  const post = async (content: string, place = open, who = ada) =>
    (await done(who, 'POST', `/channels/${place}/messages`, { content })).message as Found;
  const search = (who: Member, query: object, base = chat.base, headers = {}) =>
    ask(base, 'GET', `/search/messages?${new URLSearchParams(query as never)}`, {
      token: who.token,
      headers,
    });
  const found = async (who: Member, query: object): Promise<readonly Found[]> => {
    const answered = await search(who, query);
    expect(answered.status, JSON.stringify(answered.body)).to.equal(200);
    expect(answered.headers.get('consistency')).to.equal(null);
    return answered.body.messages;
  };
  const ids = async (who: Member, query: object) => (await found(who, query)).map(({ id }) => id);

  it('finds a message just posted by a part of a word, ignoring case', async () => {
    const message = await post('The Quick Brown fox-trot, ÉCLAIR');
    for (const q of ['quick', 'UICK', 'row', 'x-t', 'éclair', 'the fox', 'trot, brown', 'Q'])
      expect((await ids(ada, { q })).at(0), q).to.equal(message.id);
    for (const q of ['quickly', 'quick dog', 'kb']) expect(await ids(ada, { q }), q).to.deep.equal([]);
    const [hit] = await found(ada, { q: 'quick' });
    expect(hit).to.deep.equal({
      id: message.id,
      channelId: open,
      content: message.content,
      author: { id: ada.id, userName: 'ada' },
      createdAt: message.createdAt,
    });
  });

  it('ignores case, accents and width in contents, author names and file names', async () => {
    const spellings = [
      ['GRÖSSE', 'Größe', 'grosse'],
      ['café', 'CAFE', 'ｃａｆｅ'],
      ['ёж', 'ЕЖ'],
    ];
    for (const same of spellings) {
      const posted = [];
      for (const content of same) posted.unshift((await post(`about ${content}!`)).id);
      for (const q of same) expect(await ids(ada, { q: `about ${q}` }), q).to.deep.equal(posted);
    }
    const who = await chat.join('someone');
    await done(who, 'PUT', '/users/me', { userName: 'Zoë Weiß' });
    const file = Buffer.from('hi').toString('base64');
    const upload = { filename: 'Überblick.txt', file, contentType: 'text/plain' };
    const { attachment } = await done(who, 'POST', '/files', upload);
    const { message } = await done(who, 'POST', `/channels/${open}/messages`, { attachments: [attachment] });
    for (const q of ['zoe weiss', 'ZOË WEISS', 'uberblick', 'ÜBERBLICK.TXT'])
      expect(await ids(ada, { q }), q).to.deep.equal([message.id]);
  });

  it('finds messages by the current name of their author', async () => {
    const who = await chat.join('zebedee');
    const message = await post('by its author', open, who);
    expect(await ids(ada, { q: 'ZEBED' })).to.deep.equal([message.id]);
    expect(await ids(ada, { q: 'ebede author' })).to.deep.equal([message.id]);
    await done(who, 'PUT', '/users/me', { userName: 'Florence' });
    expect(await ids(ada, { q: 'zebed' })).to.deep.equal([]);
    const [hit] = await found(ada, { q: 'loren' });
    expect(hit).to.deep.include({ id: message.id, author: { id: who.id, userName: 'Florence' } });
  });

  it('finds messages of webhooks, also by their names', async () => {
    const { webhook } = await done(chat.admin, 'POST', '/webhooks', { name: 'Semaphore', channelId: open });
    const body = { content: 'gantry green' };
    const posted = await ask(chat.base, 'POST', `/webhooks/${webhook.id}/messages`, {
      token: webhook.token,
      body,
    });
    for (const q of ['gantry', 'emaphor']) {
      const [hit] = await found(ada, { q });
      expect(hit!.id).to.equal(posted.body.message.id);
      expect(hit!.author).to.deep.equal({ id: `webhook:${webhook.id}`, userName: 'Semaphore', isBot: true });
    }
  });

  it('finds replies, newest first, and follows edits and deletions', async () => {
    const parent = await post('walrus one');
    const { reply } = await done(bob, 'POST', `/messages/${parent.id}/thread`, { content: 'walrus two' });
    const third = await post('walrus three');
    expect(await ids(ada, { q: 'walrus' })).to.deep.equal([third.id, reply.id, parent.id]);
    expect((await found(ada, { q: 'walrus two' }))[0]).to.include({ threadId: parent.id, channelId: open });
    await done(bob, 'PUT', `/messages/${parent.id}/thread/${reply.id}`, { content: 'penguin two' });
    await done(ada, 'PUT', `/messages/${third.id}`, { content: 'penguin three' });
    expect(await ids(ada, { q: 'walrus' })).to.deep.equal([parent.id]);
    expect(await ids(ada, { q: 'penguin' })).to.deep.equal([third.id, reply.id]);
    await done(ada, 'DELETE', `/messages/${third.id}`);
    expect(await ids(ada, { q: 'penguin' })).to.deep.equal([reply.id]);
    await done(ada, 'DELETE', `/messages/${parent.id}`);
    expect(await ids(ada, { q: 'penguin' })).to.deep.equal([]);
  });

  it('combines its filters', async () => {
    const other = await channel('Other');
    const all: Found[] = [];
    for (const [text, place, who] of [
      ['otter 1', open, ada],
      ['otter 2', other, ada],
      ['otter 3', open, bob],
      ['otter 4', other, bob],
    ] as const)
      all.push(await post(text, place, who));
    const [one, two, three, four] = all as [Found, Found, Found, Found];
    const expectIds = async (query: object, ...expected: readonly Found[]) =>
      expect(await ids(ada, { q: 'otter', ...query })).to.deep.equal(expected.map(({ id }) => id));
    await expectIds({}, four, three, two, one);
    await expectIds({ limit: 2 }, four, three);
    await expectIds({ channelId: other }, four, two);
    await expectIds({ authorId: ada.id }, two, one);
    await expectIds({ channelId: other, authorId: ada.id }, two);
    await expectIds({ channelId: 'unknown' });
    await expectIds({ channelId: open, conversationId: other });
    await expectIds({ from: four.createdAt + 1 });
    await expectIds({ from: one.createdAt, to: four.createdAt }, four, three, two, one);
    await expectIds({ to: one.createdAt - 1 });
    await expectIds({ from: three.createdAt, to: three.createdAt, authorId: bob.id, channelId: open }, three);
  });

  it('finds only messages that the caller may see', async () => {
    const closed = await channel('Closed', { isPrivate: true, members: [bob.id] });
    const secret = await post('aardvark', closed);
    const { conversation } = await done(ada, 'POST', '/conversations', { targetUserId: bob.id });
    const path = `/conversations/${conversation.id}/messages`;
    const direct = (await done(bob, 'POST', path, { content: 'aardvark too' })).message;
    const eve = await chat.join('eve');
    for (const who of [ada, bob]) expect(await ids(who, { q: 'aardvark' })).to.deep.equal([direct.id, secret.id]);
    expect(await ids(chat.admin, { q: 'aardvark' })).to.deep.equal([secret.id]);
    expect(await ids(eve, { q: 'aardvark' })).to.deep.equal([]);
    expect(await ids(eve, { q: 'aardvark', channelId: closed })).to.deep.equal([]);
    expect(await ids(eve, { q: 'aardvark', conversationId: conversation.id })).to.deep.equal([]);
    expect(await ids(bob, { q: 'aardvark', conversationId: conversation.id })).to.deep.equal([direct.id]);
    await done(ada, 'PUT', `/channels/${closed}`, { members: [eve.id] });
    expect(await ids(bob, { q: 'aardvark' })).to.deep.equal([direct.id]);
    expect(await ids(eve, { q: 'aardvark' })).to.deep.equal([secret.id]);
    await done(ada, 'DELETE', `/channels/${closed}`);
    expect(await ids(eve, { q: 'aardvark' })).to.deep.equal([]);
  });

  it('answers the same on every node', async () => {
    const message = await post('dromedary');
    const { headers } = await search(ada, { q: 'dromedary' });
    const position = { 'if-position': headers.get('position') ?? '' };
    const answered = await search(ada, { q: 'dromedary' }, chat.bases[1], position);
    expect(answered.body.messages.map(({ id }: Found) => id)).to.deep.equal([message.id]);
  });

  it('accepts 32 different words, and rejects one more', async () => {
    const words = Array.from({ length: 33 }, (_, n) => `hare${n}`);
    const message = await post(words.join(' '));
    const [few, many] = [words.slice(1).join(' '), words.join(' ')];
    for (const q of [few, `${few} ${few.toUpperCase()}`]) expect(await ids(ada, { q })).to.deep.equal([message.id]);
    const refused = await search(ada, { q: many });
    expect(refused.status).to.equal(400);
    expect(refused.body.error).to.include('32');
  });

  it('rejects invalid queries', async () => {
    for (const query of [
      {},
      { q: '' },
      { q: ' \t ' },
      { q: 'x', limit: '0' },
      { q: 'x', limit: 'many' },
      { q: 'x', from: 'yesterday' },
      { q: 'x', to: '1.5' },
    ]) {
      const refused = await search(ada, query);
      expect(refused.status, JSON.stringify(query)).to.equal(400);
      expect(refused.body.error).to.be.a('string');
    }
    expect((await ask(chat.base, 'GET', '/search/messages?q=x')).status).to.equal(401);
  });

  it('finds in many edited and deleted messages what a full scan finds', async () => {
    const SYLLABLES = ['ba', 'Be', 'bi', 'NO', 'nu', 'é', 'e', 'x', '-', '.', '𝕏'];
    const word = fc.array(fc.constantFrom(...SYLLABLES), { minLength: 1, maxLength: 4 });
    const content = fc
      .array(word, { minLength: 1, maxLength: 5 })
      .map((words) => words.map((each) => each.join('')).join(' '));
    const sample = <T>(arbitrary: fc.Arbitrary<T>, count: number) => fc.sample(arbitrary, count);
    const [public_, private_] = [await channel('Many'), await channel('Few', { isPrivate: true })];
    const texts: { id: string; content: string; place: string; author: string; parent?: string }[] = [];
    const contents = sample(content, 640);
    // In batches of concurrent posts: ordered by their positions afterwards, and replying to earlier batches.
    for (let first = 0; first < contents.length; first += 32) {
      const batch = contents.slice(first, first + 32).map(async (text, at) => {
        const index = first + at;
        const place = index % 5 ? public_ : private_;
        const who = index % 3 && place === public_ ? bob : ada;
        const isReply = index % 7 === 6;
        const parent = isReply ? texts.findLast((each) => each.place === place && !each.parent) : undefined;
        const path = parent ? `/messages/${parent.id}/thread` : `/channels/${place}/messages`;
        const answer = await ask(chat.base, 'POST', path, { token: who.token, body: { content: text } });
        expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
        const { id } = answer.body.message ?? answer.body.reply;
        const position = BigInt(answer.headers.get('position') ?? 'missing');
        return { position, text: { id, content: text, place, author: who.id, ...(parent && { parent: parent.id }) } };
      });
      const posted = await Promise.all(batch);
      texts.push(...posted.sort((a, b) => Number(a.position - b.position)).map(({ text }) => text));
    }
    const edits = sample(fc.tuple(fc.nat(), content, fc.boolean()), 60);
    for (const [at, text, isEdit] of edits) {
      const each = texts[at % texts.length]!;
      const who = each.author === ada.id ? ada : bob;
      const path = each.parent ? `/messages/${each.parent}/thread/${each.id}` : `/messages/${each.id}`;
      await done(who, isEdit ? 'PUT' : 'DELETE', path, isEdit ? { content: text } : undefined);
      if (isEdit) each.content = text;
      else
        for (const deleted of texts.filter(({ id, parent }) => id === each.id || parent === each.id))
          texts.splice(texts.indexOf(deleted), 1);
    }
    const fold = (text: string) => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
    const scan = (q: string, canSee: (place: string) => boolean, author?: string) =>
      texts
        .filter(({ content, place, author: by }) => {
          const name = by === ada.id ? 'ada' : 'bob';
          const within = (part: string) => fold(content).includes(part) || name.includes(part);
          return canSee(place) && (!author || by === author) && fold(q).split(/\s+/u).filter(Boolean).every(within);
        })
        .map(({ id }) => id)
        .reverse();
    const visibility = [public_, private_];
    for (const q of [...sample(content, 20), 'x', '𝕏', 'a', 'o', 'babe', 'nunu', 'bob no']) {
      for (const [who, canSee] of [
        [ada, () => true],
        [bob, (place: string) => place === public_],
      ] as const) {
        const all: string[] = [];
        for (const channelId of visibility) all.push(...(await ids(who, { q, channelId, limit: 500 })));
        const expected = visibility.flatMap((place) => scan(q, (each) => each === place && canSee(each)));
        expect(all, q).to.deep.equal(expected);
      }
      const ownMatches = await ids(ada, { q, authorId: ada.id, channelId: public_, limit: 7 });
      expect(ownMatches, q).to.deep.equal(scan(q, (place) => place === public_, ada.id).slice(0, 7));
    }
  });
});
