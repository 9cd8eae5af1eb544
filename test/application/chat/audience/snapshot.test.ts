/** The chat audience restores its state at any position of the log, from a snapshot and the tail. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type ChatState, chatAudience } from '../../../../application/chat/audience/audience.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { audienceFold } from '../../../../application/subscription/audience.js';
import { eventCount } from '../../../../application/subscription/stream-cursors.js';
import { type ChatEvent, catalog } from '../../../../domain/chat/catalog.js';
import { CHANNELS, type ChannelsCommand, channels } from '../../../../domain/chat/channels.js';
import { channelSubject } from '../../../../domain/chat/events/channels.js';
import { userSubject } from '../../../../domain/chat/events/roster.js';
import { ROSTER, type RosterCommand, roster } from '../../../../domain/chat/roster.js';
import {
  ADA,
  asAdmin,
  asUser,
  BOB,
  CHANNEL,
  createChannel,
  createWebhook,
  deleteChannel,
  deleteWebhook,
  eraseChannel,
  updateChannel,
} from '../../../support/chat-fixtures.js';
import {
  added,
  admin,
  changeRole,
  erased,
  eraseUser,
  leave,
  left,
  register,
  remove,
  removed,
  rename,
  renamed,
  roleChanged,
} from '../../../support/chat-user-fixtures.js';
import { specOf } from '../../../support/decider-spec.js';
import { interleaved, type Step, starting } from '../../../support/snapshot-spec.js';

const chat = chatAudience(() => null);

const people: readonly ChatEvent[] = [
  admin(ADA),
  added(BOB),
  added('cy'),
  added('dee'),
  renamed(BOB, 'Robert'),
  roleChanged(BOB, true),
  roleChanged(BOB, false),
  removed('cy', ADA),
  left('dee'),
  erased('cy'),
];
const visibility: readonly ChatEvent[] = specOf(channels).run([
  createChannel('General', { channelId: CHANNEL, members: [ADA, BOB] }),
  createChannel('Secret', { channelId: 'two', isPrivate: true }),
  updateChannel({ channelId: CHANNEL, members: [ADA] }),
  updateChannel({ channelId: 'two', members: [ADA, BOB] }),
  createWebhook('Robot'),
  deleteWebhook(),
  deleteChannel(asUser(ADA), CHANNEL),
  eraseChannel(CHANNEL),
]).events;

const who = fc.constantFrom('ada', 'bob', 'cyd', 'dee');
const name = fc.constantFrom('Ann', 'Bea', 'Cleo');
const where = fc.constantFrom('one', 'two', 'three');
const flag = fc.boolean();
const rosterCommand: fc.Arbitrary<RosterCommand> = fc.oneof(
  { weight: 4, arbitrary: who.map(register) },
  { weight: 4, arbitrary: fc.tuple(who, name).map(([id, as]) => rename(id, as)) },
  { weight: 2, arbitrary: fc.tuple(who, flag).map(([id, is]) => changeRole(id, is)) },
  who.map((id) => remove(id)),
  who.map(leave),
  who.map(eraseUser),
);
const channelsCommand: fc.Arbitrary<ChannelsCommand> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({ channelId: where, isPrivate: flag, members: fc.uniqueArray(who), by: who })
      .chain((more) => fc.tuple(name, fc.constant(more)))
      .map(([as, more]) => createChannel(as, more)),
  },
  {
    weight: 4,
    arbitrary: fc
      .record({ channelId: where, name, topic: name, isPrivate: flag, members: fc.uniqueArray(who) })
      .map((more) => updateChannel({ by: asAdmin('ada'), ...more })),
  },
  {
    weight: 2,
    arbitrary: fc.record({ channelId: where, webhookId: name }).map((more) => createWebhook('A robot', more)),
  },
  name.map(deleteWebhook),
  { weight: 3, arbitrary: where.map((each) => deleteChannel(asAdmin('ada'), each)) },
  where.map(eraseChannel),
);

/** Drops commands that would create an id a second time. */
function withoutDuplicateIds<Command extends { readonly type: string }>(commands: readonly Command[]) {
  const made = new Set<string>();
  return commands.filter((command) => {
    if (!['AddUser', 'CreateChannel', 'CreateWebhook'].includes(command.type)) return true;
    const { type, userId, webhookId, channelId } = command as Command & { readonly [id: string]: string };
    const id = `${type} ${userId ?? webhookId ?? channelId}`;
    return !made.has(id) && made.add(id);
  });
}

const withCommandId = fc.array(fc.boolean(), { maxLength: 60, minLength: 60 });
const history = fc
  .record({
    people: fc.array(rosterCommand, { maxLength: 25 }),
    visibility: fc.array(channelsCommand, { maxLength: 25 }),
    which: fc.array(fc.nat(1), { maxLength: 60 }),
    withCommandId,
  })
  .map(({ people, visibility, which, withCommandId }): readonly Step[] => {
    const first = admin('ada');
    const steps = (stream: string, events: readonly ChatEvent[]) => events.map((event) => ({ stream, event }));
    const all = interleaved(
      [
        steps(ROSTER, [
          first,
          ...specOf(roster)
            .run(people, [first as never])
            .events.slice(1),
        ]),
        steps(CHANNELS, specOf(channels).run(withoutDuplicateIds(visibility)).events),
      ],
      which,
    );
    return all.map((step, index) => (withCommandId[index] ? { ...step, commandId: `c${index}` } : step));
  });

const begin = () => starting(catalog, chat);

describe('the restored audience of the chat', () => {
  it('equals the fold of all events up to the position, at every position', async () => {
    const world = await begin();
    const { follow, decryptEvent, append, at } = world;
    for (let n = 0; n < Math.max(people.length, visibility.length); n++) {
      if (people[n]) await append({ stream: ROSTER, event: people[n]! });
      if (visibility[n]) await append({ stream: CHANNELS, event: visibility[n]! });
    }
    const { signal } = new AbortController();
    const read = await follow({ prefixes: ['chat.'], from: 'start', signal }).next();
    const { evolve, initialState, types } = audienceFold(chat);
    let state = initialState;
    for (const event of read.value.events) {
      state = evolve(state, await decryptEvent(catalog, event));
      expect((await at(event.position)).state, `at ${event.type}`).to.deep.equal(state);
    }
    // All event types that the audience folds occur in these two streams.
    expect(new Set(read.value.events.map(({ type }: RecordedEvent) => type)).size).to.equal(types.length);
  });

  it('is the same from a snapshot of any earlier position, even after users and channels are erased', async () => {
    const property = fc.asyncProperty(history, fc.nat(50), fc.nat(100), async (steps, when, erasing) => {
      const { append, writeSnapshot, expectSame, vault } = await begin();
      const positions: bigint[] = [];
      for (const step of steps) positions.push(await append(step));
      const index = when % positions.length;
      await writeSnapshot(positions[index]!);
      for (const { event } of steps as readonly { readonly event: unknown }[] as readonly {
        readonly event: ChatEvent;
      }[]) {
        if (erasing % 3 === 0) break;
        if (event.type === 'UserErased') await vault.destroy(userSubject(event.data));
        if (event.type === 'ChannelDeleted') await vault.destroy(channelSubject(event.data));
      }
      await expectSame(positions.slice(index));
    });
    await fc.assert(property, { numRuns: 100 });
  });

  it('reads only the events after its snapshot, without a filter by type', async () => {
    const { append, writeSnapshot, at, read } = await begin();
    const steps = people.map((event) => ({ stream: ROSTER, event }));
    let last = 0n;
    for (const step of steps) last = await append(step);
    await writeSnapshot(last);
    const position = await append({ stream: CHANNELS, event: visibility[0]! });
    const { state } = await at(position);
    expect(state.channels.channels.size).to.equal(1);
    expect(eventCount(state.reached)).to.equal(people.length + 1);
    // The last event of the roster proves that it is still the same log.
    expect(read.map(({ position }) => position)).to.deep.equal([last, position]);
  });

  it('stores no personal data in its snapshot and does not restore erased users', async () => {
    const { append, writeSnapshot, at, stored, vault } = await begin();
    let last = 0n;
    for (const event of [admin(ADA), added('cy', { userName: 'Cleopatra' })])
      last = await append({ stream: ROSTER, event });
    last = await append({ stream: CHANNELS, event: visibility[0]! });
    await writeSnapshot(last);
    const text = JSON.stringify(stored.get('chat')!.parts);
    for (const name of ['Cleopatra', '@example.org', 'General']) expect(text).not.to.include(name);
    const named = ({ state }: { state: ChatState }) => state.roster.users.get('cy');
    expect(named(await at(last))).to.include({ userName: 'Cleopatra' });
    await vault.destroy(userSubject({ userId: 'cy' }));
    expect(named(await at(last))).to.include({ userName: 'Deleted user', email: '' });
  });

  it('is read from the log, with a warning, when the snapshot is damaged or belongs to another log', async () => {
    const { append, writeSnapshot, at, stored, warnings, expectSame } = await begin();
    const positions: bigint[] = [];
    for (const event of people) positions.push(await append({ stream: ROSTER, event }));
    const last = positions.at(-1)!;
    await writeSnapshot(last);
    const whole = stored.get('chat')!;
    type Part = { is: string; secret?: string; reached?: { position: string } };
    const damages: ((part: Part) => unknown)[] = [
      (part) => ({ ...part, ...(part.secret && { secret: part.secret.replace(/^..../, 'AAAA') }) }),
      (part) => (part.is === 'reached' ? { is: 'reached' } : part),
      (part) => (part.reached ? { ...part, reached: { ...part.reached, position: '1' } } : part),
      () => null,
    ];
    for (const [index, damage] of damages.entries()) {
      stored.set('chat', { ...whole, parts: (whole.parts as readonly Part[]).map(damage) });
      await expectSame([last]);
      expect(warnings, `damage ${index}`).to.have.lengthOf(index + 1);
    }
    stored.set('chat', whole);
    await at(last);
    expect(warnings).to.have.lengthOf(damages.length);
  });
});
