/**
 * A day of chat on two nodes that are killed one after the other while people write: nothing acknowledged is lost or
 * there twice, streams miss nothing, and deleted threads leave nothing. `SEED` repeats the actions of another run.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { inMode } from '../support/chat-scenario.js';
import { applyFrame, type ChatView, readView } from '../support/chat-view.js';
import { random } from '../support/random.js';
import {
  expectAudit,
  expectExport,
  expectFiles,
  expectFirstAnswers,
  expectGone,
  expectHistories,
  expectPins,
  expectSearches,
  expectStatuses,
  expectViews,
} from './chat-day/checks.js';
import { isGone } from './chat-day/ledger.js';
import { type Day, emailOf, Person } from './chat-day/person.js';
import { type Follower, followEvents } from './rounds/client.js';
import { startInstallation } from './rounds/installation.js';

const SEED = Number(process.env.SEED ?? Date.now() % 1_000_000);
const HOURS = 2;
const ACTIONS_PER_HOUR = 30;
const ADMIN_PASSWORD = 'the admin of the day';
const NAMES = ['admin', 'ada', 'bob', 'cyd'] as const;
const FLAGS = [
  'chat',
  ...Object.entries(inMode('password')).flat(),
  ...['--chat-initial-user-email', emailOf('admin'), '--chat-initial-user-user-name', 'admin'],
  ...['--chat-initial-user-password', ADMIN_PASSWORD],
];

describe(`a day of chat while nodes are killed (seed ${SEED})`, function () {
  this.timeout(300_000);
  const pick = random(SEED * 7919);
  let day: Day;
  let people: { readonly [name in (typeof NAMES)[number]]: Person };
  const everybody = () => Object.values(people);
  const nodes = () => day.at.urls('chat');
  const followers = new Map<string, { readonly known: ChatView; readonly events: Follower }>();

  before(async () => {
    const at = await startInstallation(2, undefined, FLAGS);
    day = { at, places: [], posts: [], actions: 0 };
    const person = (name: string, n: number) => new Person(day, name, random((SEED + n) * 104_729));
    const [admin, ada, bob, cyd] = NAMES.map(person) as [Person, Person, Person, Person];
    people = { admin, ada, bob, cyd };
  });
  after(async () => {
    for (const { events } of followers.values()) await events.close();
    await day?.at.stop();
  });

  async function openPlaces(): Promise<void> {
    const { admin, ada, bob, cyd } = people;
    const channel = async (by: Person, body: object, viewers: readonly Person[]) => {
      const { id } = (await by.send('POST', '/channels', body)).channel;
      return { id, path: `/channels/${id}`, viewers: viewers.map(({ name }) => name) };
    };
    const conversation = async (one: Person, other: Person) => {
      const { id } = (await one.send('POST', '/conversations', { targetUserId: other.id })).conversation;
      return { id, path: `/conversations/${id}`, viewers: [one.name, other.name] };
    };
    day.places = [
      await channel(ada, { name: 'lobby' }, everybody()),
      await channel(admin, { name: 'board', isPrivate: true, members: [ada.id, bob.id] }, [admin, ada, bob]),
      await conversation(ada, bob),
      await conversation(cyd, ada),
    ];
  }

  /** Kills a node in the middle of commands, and starts it again. */
  async function killNode(node: number, afterAction: number): Promise<void> {
    await eventually(() => day.actions >= afterAction);
    await sleep(pick(20));
    await day.at.signal(node, 'SIGKILL');
    await sleep(pick(400));
    await day.at.start(node);
  }

  /** Everybody acts, while one node is killed and then the other one. */
  async function passHour(): Promise<void> {
    const total = NAMES.length * ACTIONS_PER_HOUR;
    const first = day.actions + pick(total / 3);
    const second = day.actions + total / 2 + pick(total / 3);
    const node = pick(2);
    const killing = killNode(node, first).then(() => killNode(1 - node, second));
    await Promise.all([...everybody().map((person) => person.act(ACTIONS_PER_HOUR)), killing]);
  }

  async function setRole(of: Person, role: 'admin' | 'user'): Promise<void> {
    await people.admin.send('PUT', `/users/${of.id}/role`, { role });
    of.isAdmin = role === 'admin';
  }

  it('passes, with everybody acting and every request answered', async () => {
    const { admin, ada, bob, cyd } = people;
    await admin.signIn(ADMIN_PASSWORD);
    for (const person of [ada, bob, cyd]) await person.register();
    await openPlaces();
    for (const { name, token } of everybody()) {
      const { known, since } = await eventually(async () => {
        const view = await readView(nodes()[0]!, token);
        const isVisible = (id: string) => view.known.channels.has(id) || view.known.conversations.has(id);
        return day.places.every(({ id, viewers }) => isVisible(id) === viewers.includes(name)) && view;
      });
      followers.set(name, { known, events: followEvents(day.at, token, since) });
    }
    for (let hour = 0; hour < HOURS; hour++) {
      if (hour === 1) await setRole(bob, 'admin');
      await passHour();
      for (const person of [ada, bob, cyd]) await person.signIn();
    }
    // At least one thread goes with its message.
    const reply = day.posts.find((post) => post.parent && !isGone(post));
    await admin.remove(reply!.parent!);
    await setRole(bob, 'user');
  });

  it('is delivered completely and once by the event streams', async () => {
    const { channel: last } = await people.admin.send('POST', '/channels', { name: 'the end' });
    for (const [name, { known, events }] of followers) {
      await eventually(() => events.frames.some(({ payload }) => payload?.id === last.id));
      expect(events.frames.map(({ type }) => type)).not.to.include('RESET');
      const posted = events.frames.flatMap(({ type, payload }) =>
        /^NEW_(MESSAGE|DM_MESSAGE|THREAD_REPLY)$/.test(type) ? [payload.id] : [],
      );
      const visible = day.posts.filter((post) => post.place.viewers.includes(name));
      expect(posted, name).to.include.members(visible.filter((post) => !isGone(post)).map(({ id }) => id));
      expect(new Set(posted).size, name).to.equal(posted.length);
      for (const each of events.frames) applyFrame(known, each);
    }
  });

  it('is shown completely and once by both nodes, and as the event streams have it', async () => {
    for (const base of nodes())
      for (const person of everybody()) await expectViews(day, base, person, followers.get(person.name)!.known, people);
  });

  it('has every version, pin, file and status', async () => {
    for (const base of nodes()) {
      await expectHistories(day, base, everybody());
      await expectPins(day, base, people.ada);
      await expectFiles(day, base, everybody());
      await expectStatuses(base, everybody());
    }
  });

  it('is found by words, by author and by place, without what was deleted or changed', async () => {
    for (const base of nodes()) for (const person of everybody()) await expectSearches(day, base, person, people);
  });

  it('shows nothing of deleted messages and their threads', async () => {
    for (const base of nodes()) await expectGone(day, base, everybody());
  });

  it('gives repeated requests their first answers, and does nothing twice', async () => {
    await expectFirstAnswers(day, everybody());
    for (const base of nodes())
      for (const person of everybody()) await expectViews(day, base, person, followers.get(person.name)!.known, people);
  });

  it('is exported, and in the audit log once', async () => {
    for (const [index, base] of nodes().entries()) {
      await expectExport(day, base, people.admin);
      await expectAudit(day, base, people, index + 1);
    }
  });

  it('ends with the removal of a person, whose messages stay', async () => {
    const { admin, ada, bob, cyd } = people;
    const own = day.posts.find((post) => post.place === day.places[0] && post.author === 'ada' && !isGone(post))!;
    for (const base of nodes()) await bob.expectStatus(base, 403, 'DELETE', `/messages/${own.id}`);
    await followers.get('cyd')!.events.close();
    await admin.send('DELETE', `/users/${cyd.id}`, undefined);
    for (const base of nodes()) {
      await eventually(() => cyd.expectStatus(base, 401, 'GET', '/channels'));
      await expectViews(day, base, ada, followers.get('ada')!.known, people);
    }
  });
});
