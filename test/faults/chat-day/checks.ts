/** What must hold at the end of a day, on each node. */
import { isDeepStrictEqual } from 'node:util';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { type ChatView, comparable, readView } from '../../support/chat-view.js';
import { ask } from '../../support/http-spec.js';
import { type Any, isGone, type Place, type Post, summaryOf, summaryOfView, threadMetaOf } from './ledger.js';
import type { Day, Person } from './person.js';

type People = { readonly [name: string]: Person };

/** Read models may be behind just after a kill. */
const CATCH_UP_MS = 30_000;
const LIMIT = 500;
/** Posts that are looked up one by one. */
const SAMPLE = 10;

const idsOf = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id).sort();

/** Reads until it equals what is expected, or time is up; then asserts it. */
async function expectEventually<Value>(what: string, expected: Value, read: () => Promise<Value>): Promise<void> {
  let last: Value | undefined;
  const look = async () => {
    last = await read();
    return isDeepStrictEqual(last, expected);
  };
  await eventually(look, AbortSignal.timeout(CATCH_UP_MS)).catch(() => {});
  expect(last, what).to.deep.equal(expected);
}

async function get(base: string, { token, name }: Person, path: string): Promise<Any> {
  const { status, body } = await ask(base, 'GET', path, { token });
  expect(status, `${name}: GET ${path}: ${JSON.stringify(body)}`).to.equal(200);
  return body;
}

const visibleTo = (posts: readonly Post[], { name }: Person) =>
  posts.filter((post) => post.place.viewers.includes(name) && !isGone(post));

/** The lists of messages and replies that a person sees equal the ledger, and what the event stream has told. */
export async function expectViews(
  day: Day,
  base: string,
  person: Person,
  streamed: ChatView,
  people: People,
): Promise<void> {
  let known!: ChatView;
  await expectEventually(`${person.name} at ${base}`, comparable(streamed, streamed.partial), async () => {
    known = (await readView(base, person.token)).known;
    return comparable(known, streamed.partial);
  });
  const idOf = (name: string) => people[name]!.id;
  const expectPosts = (what: string, found: readonly Any[], expected: readonly Post[]) => {
    const posts = expected.map((post) => summaryOf(post, idOf));
    expect(found.map(summaryOfView), what).to.have.deep.members(posts).and.have.length(posts.length);
  };
  for (const place of day.places) {
    const posts = visibleTo(day.posts, person).filter((post) => post.place === place);
    const topLevel = posts.filter(({ parent }) => !parent);
    const messages = known.messages.get(place.id) ?? [];
    expectPosts(`${person.name}: ${place.path}`, messages, topLevel);
    for (const post of topLevel) {
      const replies = known.replies.get(post.id) ?? [];
      expectPosts(
        `${person.name}: thread of ${post.id}`,
        replies,
        posts.filter(({ parent }) => parent === post),
      );
      const { threadMeta } = messages.find(({ id }) => id === post.id);
      const sorted = threadMeta && { ...threadMeta, participants: [...threadMeta.participants].sort() };
      expect(sorted, `summary of ${post.id}`).to.deep.equal(threadMetaOf(replies));
    }
  }
}

const oneWhoSees = (people: readonly Person[], { viewers }: Place): Person =>
  people.find(({ name }) => viewers.includes(name))!;

/** Each edit is a version once. */
export async function expectHistories(day: Day, base: string, people: readonly Person[]): Promise<void> {
  for (const post of day.posts.filter((each) => !isGone(each) && each.contents.length > 1)) {
    const { history } = await get(base, oneWhoSees(people, post.place), `/messages/${post.id}/history`);
    expect(history.map(({ content }: Any) => content)).to.deep.equal(post.contents);
  }
}

export async function expectPins(day: Day, base: string, person: Person): Promise<void> {
  for (const place of day.places.filter(({ path }) => path.startsWith('/channels'))) {
    const pinned = visibleTo(day.posts, person).filter((post) => post.place === place && post.isPinned);
    await expectEventually(`pins of ${place.path}`, idsOf(pinned), async () =>
      idsOf((await get(base, person, `${place.path}/pins`)).messages),
    );
  }
}

export async function expectFiles(day: Day, base: string, people: readonly Person[]): Promise<void> {
  for (const post of day.posts) {
    if (!post.file) continue;
    const path = `/files/${post.file.filename}`;
    for (const person of people) {
      const isVisible = post.place.viewers.includes(person.name) && !isGone(post);
      const expected = isVisible ? { status: 200, body: post.file.content } : { status: 404, body: undefined };
      await expectEventually(`${person.name}: ${path} of ${post.id}`, expected, async () => {
        const { status, body } = await ask(base, 'GET', path, { token: person.token });
        return { status, body: status === 200 ? body : undefined };
      });
    }
  }
}

/** A status that is set is seen on both nodes, by everybody. */
export async function expectStatuses(base: string, people: readonly Person[]): Promise<void> {
  for (const [index, person] of people.entries()) {
    const status = index % 2 === 0 ? 'away' : 'online';
    await person.send('PUT', '/presence/me', { status });
    await expectEventually(`status of ${person.name}`, status, async () => {
      const { presence } = await get(base, people[0]!, '/presence');
      return presence.find(({ userId }: Any) => userId === person.id)?.status;
    });
  }
}

/** The word of a text that no other has. */
const rareWord = (content: string): string => content.split(' ').at(-1)!;

export async function expectSearches(day: Day, base: string, person: Person, people: People): Promise<void> {
  const posts = visibleTo(day.posts, person);
  expect(posts.length).to.be.lessThan(LIMIT);
  const expectFound = (query: string, expected: readonly Post[]) =>
    expectEventually(`${person.name} searches ${query}`, idsOf(expected), async () =>
      idsOf((await get(base, person, `/search/messages?limit=${LIMIT}&${query}`)).messages),
    );
  await expectFound('q=day', posts);
  for (const { id, name } of Object.values(people))
    await expectFound(
      `q=day&authorId=${id}`,
      posts.filter(({ author }) => author === name),
    );
  for (const place of day.places) {
    const filter = place.path.startsWith('/channels') ? 'channelId' : 'conversationId';
    await expectFound(
      `q=day&${filter}=${encodeURIComponent(place.id)}`,
      posts.filter((post) => post.place === place),
    );
  }
  for (const post of posts.slice(-SAMPLE)) await expectFound(`q=${rareWord(post.contents.at(-1)!)}`, [post]);
  const former = posts.flatMap(({ contents }) => contents.slice(0, -1));
  const deleted = day.posts.filter(isGone).flatMap(({ contents }) => contents);
  for (const content of [...former.slice(-SAMPLE), ...deleted.slice(-SAMPLE)])
    await expectFound(`q=${rareWord(content)}`, []);
}

/** Expects 404 for deleted messages, their threads and replies, for all people. */
export async function expectGone(day: Day, base: string, people: readonly Person[]): Promise<void> {
  const gone = day.posts.filter(isGone);
  expect(gone.some(({ parent, deletedBy }) => parent && isGone(parent) && deletedBy.size === 0)).to.equal(true);
  for (const { id, place, parent } of gone) {
    const person = oneWhoSees(people, place);
    const paths = [`/messages/${id}/history`, ...(parent ? [] : [`/messages/${id}/thread`])];
    for (const path of paths) await person.expectStatus(base, 404, 'GET', path);
    for (const method of ['POST', 'DELETE'])
      await person.expectStatus(base, 404, method, `/messages/${id}/reactions`, { reaction: '+1' });
    await person.expectStatus(base, 404, 'PUT', `/messages/${id}`, { content: 'again' });
  }
}

/** Requests get the same answer again, in turn on each node, unless what they are about is gone. */
export async function expectFirstAnswers(day: Day, people: readonly Person[]): Promise<void> {
  const bases = day.at.urls('chat');
  let turn = 0;
  for (const person of people)
    for (const { method, path, body, key, answer, about } of person.sent) {
      const { id } = answer.message ?? answer.reply ?? {};
      const { filename } = answer.attachment ?? {};
      const own = day.posts.find((post) => post.id === id || (post.file && post.file.filename === filename));
      // Only the last status of a person is stored.
      if (path === '/presence/me' || (own ? isGone(own) : about.some(isGone))) continue;
      const headers = { 'idempotency-key': key };
      const again = await ask(bases[turn++ % bases.length]!, method, path, { token: person.token, body, headers });
      expect(again.status, `${method} ${path}: ${JSON.stringify(again.body)}`).to.equal(200);
      expect(again.body, `${method} ${path} ${JSON.stringify(body)}`).to.deep.equal(answer);
    }
}

export async function expectExport(day: Day, base: string, admin: Person): Promise<void> {
  const exported = await get(base, admin, '/admin/export');
  expect(idsOf(exported.messages)).to.deep.equal(idsOf(day.posts.filter((post) => !isGone(post))));
  expect(exported.users).to.have.length(4);
  const text = JSON.stringify(exported.messages);
  for (const { contents } of day.posts.filter(isGone))
    for (const content of contents) expect(text).not.to.include(content);
}

/** Every act on what belongs to others is an entry, once. */
export async function expectAudit(day: Day, base: string, people: People, exports: number): Promise<void> {
  const admin = people.admin!;
  const of = (entries: readonly Any[], action: string, targetId: string) =>
    entries.filter((entry) => entry.action === action && entry.targetId === targetId);
  const deletions = Object.values(people).flatMap((person) =>
    person.sent.flatMap(({ method, path, about: [post] }) => {
      const isDeletion = method === 'DELETE' && post && /\/(messages|thread)\/[^/]+$/.test(path);
      const isOnly = isDeletion && post.deletedBy.size === 1 && !(post.parent && isGone(post.parent));
      return isOnly && post.author !== person.name ? [{ post, by: person.id }] : [];
    }),
  );
  await expectEventually(
    `audit log at ${base}`,
    {
      roles: ['user', 'admin'],
      exports,
      channels: day.places.filter(({ path }) => path.startsWith('/channels')).map(() => 1),
      deletions: deletions.map(({ by }) => [by]),
    },
    async () => {
      const { entries } = await get(base, admin, '/admin/audit-log?limit=1000');
      const channels = day.places.filter(({ path }) => path.startsWith('/channels'));
      return {
        roles: of(entries, 'user.change-role', people.bob!.id).map(({ metadata }) => metadata.role),
        exports: of(entries, 'server.export', 'main').length,
        channels: channels.map(({ id }) => of(entries, 'channel.create', id).length),
        deletions: deletions.map(({ post: { id, parent } }) =>
          of(entries, parent ? 'reply.delete' : 'message.delete', id).map(({ actorId }) => actorId),
        ),
      };
    },
  );
}
