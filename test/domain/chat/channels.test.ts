/** Channel rules: unique names, membership and permissions. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  type ChannelsCommand,
  type ChannelsEvent,
  channelFor,
  channels,
  channelsFor,
} from '../../../domain/chat/channels.js';
import { countMembers, noCounts } from '../../../domain/chat/limits.js';
import { nameKey } from '../../../domain/chat/names.js';
import { evolveOf, isRejection } from '../../../domain/shared/decider.js';
import {
  ADA,
  asAdmin,
  asUser,
  BOB,
  CHANNEL,
  CYD,
  createChannel,
  deleteChannel,
  eraseChannel,
  NOON,
  updateChannel,
} from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(channels);
const from = (...commands: readonly ChannelsCommand[]) => given(...run(commands).events);

describe('channels', () => {
  it('are created once, with their creator as a member', () => {
    given()
      .when(createChannel('  General ', { topic: 'all', members: [BOB, ADA, BOB], channelId: CHANNEL }))
      .then({
        type: 'ChannelCreated',
        data: {
          channelId: CHANNEL,
          createdBy: ADA,
          createdAt: NOON,
          isPrivate: false,
          members: [ADA, BOB],
          secret: { name: 'General', topic: 'all' },
        },
      });
  });

  for (const name of ['general', 'GENERAL ', '  General'])
    it(`have unique names: ${JSON.stringify(name)} conflicts with General`, () => {
      const other = { channelId: 'other', by: BOB };
      from(createChannel()).when(createChannel(name, other)).thenRejected('chat/channel-exists', { kind: 'invalid' });
      from(createChannel(), createChannel('Other'))
        .when(updateChannel({ channelId: 'other', name }))
        .thenRejected('chat/channel-exists', { kind: 'invalid' });
    });

  it('release their name when renamed or deleted', () => {
    const renamed = run([createChannel(), updateChannel({ name: 'Lobby' }), createChannel()]);
    expect(renamed.events.map(({ type }) => type)).to.deep.equal([
      'ChannelCreated',
      'ChannelUpdated',
      'ChannelCreated',
    ]);
    from(createChannel(), updateChannel({ name: 'Lobby' }))
      .when(createChannel('lobby', { channelId: 'other' }))
      .thenRejected('chat/channel-exists');
    const { state } = run([createChannel(), deleteChannel(), createChannel('General', { channelId: 'again' })]);
    expect(channelFor(state, 'again', asUser(ADA))).to.include({ name: 'General' });
  });

  it('can change the case of their name', () => {
    const { state } = run([createChannel(), updateChannel({ name: 'GENERAL' })]);
    expect(channelFor(state, CHANNEL, asUser(BOB))).to.include({ name: 'GENERAL', updatedAt: NOON + 1 });
  });

  for (const name of ['ＧＥＮＥＲＡＬ', 'Gene\u200bral', ' general \u2800'])
    it(`cannot use a lookalike of another name: ${name}`, () => {
      from(createChannel())
        .when(createChannel(name, { channelId: 'other' }))
        .thenRejected('chat/channel-exists');
    });

  it('keep a name that another channel with an equivalent name from earlier releases also uses', () => {
    // From a release in which these names did not conflict.
    const old = [createChannel('General'), createChannel('Gene\u200bral', { channelId: 'other' })].flatMap(
      (command) => run([command]).events,
    );
    for (const command of [updateChannel({ channelId: 'other', name: 'Lobby' }), deleteChannel(asUser(ADA), 'other')])
      given(...run([command], old).events)
        .when(createChannel('general', { channelId: 'third' }))
        .thenRejected('chat/channel-exists');
    const { state } = run([updateChannel({ channelId: 'other', topic: 'new' })], old);
    expect(channelFor(state, 'other', asUser(ADA))).to.include({ name: 'Gene\u200bral', topic: 'new' });
  });

  for (const name of ['', '   ', '\u200b', 'x'.repeat(81)])
    it(`reject the name ${JSON.stringify(name.slice(0, 9))} of length ${name.length}`, () => {
      given().when(createChannel(name)).thenRejected('chat/bad-channel-name', { kind: 'invalid' });
      from(createChannel()).when(updateChannel({ name })).thenRejected('chat/bad-channel-name');
    });

  it('have names of up to 80 characters and topics of up to 500', () => {
    expect(isRejection(channels.decide(createChannel('😀'.repeat(80)), channels.initialState))).to.equal(false);
    const topic = '😀'.repeat(500);
    expect(isRejection(channels.decide(createChannel('a', { topic }), channels.initialState))).to.equal(false);
    given()
      .when(createChannel('a', { topic: `${topic}x` }))
      .thenRejected('chat/bad-topic', { kind: 'invalid' });
    from(createChannel())
      .when(updateChannel({ topic: `${topic}x` }))
      .thenRejected('chat/bad-topic');
  });

  it('change only the given fields, with added and removed members', () => {
    from(createChannel('General', { members: [BOB], topic: 'old' }))
      .when(updateChannel({ members: [CYD], isPrivate: true }))
      .then({
        type: 'ChannelUpdated',
        data: {
          channelId: CHANNEL,
          by: ADA,
          updatedAt: NOON + 1,
          joined: [CYD],
          left: [BOB],
          isPrivate: true,
          secret: {},
        },
      });
    const changed = { channelId: CHANNEL, by: ADA, updatedAt: NOON + 1, joined: [CYD], left: [BOB] };
    from(createChannel('General', { members: [BOB] }))
      .when(updateChannel({ members: [CYD] }))
      .then({ type: 'ChannelUpdated', data: { ...changed, secret: {} } });
    from(createChannel('General', { members: [BOB] }))
      .when(updateChannel({ members: [BOB, CYD], topic: 'new' }))
      .then({ type: 'ChannelUpdated', data: { ...changed, left: [], secret: { topic: 'new' } } });
    const { state } = run([
      createChannel('General', { members: [BOB], topic: 'old' }),
      updateChannel({ members: [CYD], topic: '' }),
    ]);
    expect(channelFor(state, CHANNEL, asUser(BOB))).to.deep.include({ members: [ADA, CYD], topic: '' });
  });

  it('do not change if all fields are equal', () => {
    const full = { topic: 'all', members: [BOB], isPrivate: true };
    from(createChannel('General', full))
      .when(updateChannel({ name: 'General', ...full }))
      .thenNothing();
  });

  it('are visible only to members and admins while private', () => {
    const { state } = run([createChannel('General', { isPrivate: true, members: [BOB] })]);
    for (const [by, sees] of [
      [asUser(ADA), true],
      [asUser(BOB), true],
      [asUser(CYD), false],
      [asAdmin(CYD), true],
    ] as const) {
      expect(channelFor(state, CHANNEL, by) !== undefined).to.equal(sees);
      expect(channelsFor(state, by)).to.have.length(sees ? 1 : 0);
    }
  });

  it('can be changed and deleted by creator and admins; others are rejected, or do not find private ones', () => {
    for (const command of [
      (by: ReturnType<typeof asUser>) => updateChannel({ by, topic: 'new' }),
      (by: ReturnType<typeof asUser>) => deleteChannel(by),
    ]) {
      const open = from(createChannel());
      const closed = from(createChannel('General', { isPrivate: true, members: [BOB] }));
      open.when(command(asUser(BOB))).thenRejected('chat/not-your-channel', { kind: 'forbidden' });
      closed.when(command(asUser(BOB))).thenRejected('chat/not-your-channel', { kind: 'forbidden' });
      closed.when(command(asUser(CYD))).thenRejected('chat/channel-not-found', { kind: 'not-found' });
      given()
        .when(command(asAdmin(ADA)))
        .thenRejected('chat/channel-not-found', { kind: 'not-found' });
      const { events } = run([createChannel('General', { isPrivate: true, members: [BOB] }), command(asAdmin(CYD))]);
      expect(events).to.have.length(2);
    }
  });

  it('are erased once after deletion', () => {
    from(createChannel()).when(eraseChannel()).thenNothing();
    from(createChannel(), deleteChannel())
      .when(eraseChannel())
      .then({ type: 'ChannelErased', data: { channelId: CHANNEL, erasedAt: NOON + 3 } });
    from(createChannel(), deleteChannel(), eraseChannel()).when(eraseChannel()).thenNothing();
  });

  it('get an initial channel only if none was ever created', () => {
    const first = { first: true as const };
    expect(run([createChannel('General', first)]).events).to.have.length(1);
    from(createChannel('Other'))
      .when(createChannel('General', { ...first, channelId: 'general' }))
      .thenNothing();
    from(createChannel(), deleteChannel())
      .when(createChannel('General', { ...first, channelId: 'again' }))
      .thenNothing();
  });

  it('are limited in their total members, and free the places of removed ones', () => {
    const most = Array.from({ length: 90_000 }, (_, at) => `user-${at}`);
    const { state } = run([createChannel('General', { members: most })]);
    const other = createChannel('other', { members: most.slice(0, 1000) });
    const more = updateChannel({ members: [...most, ...most.map((each) => `${each}-too`)] });
    for (const each of [other, more])
      expect(channels.decide(each, state)).to.include({ rejected: 'chat/too-many-members', kind: 'invalid' });
    for (const each of [
      { ...other, by: BOB },
      { ...other, asAdmin: true },
      { ...more, by: asAdmin(BOB) },
    ])
      expect(channels.decide(each, state)).to.have.length(1);
    for (const less of [updateChannel({ members: [] }), deleteChannel()]) {
      const [event] = channels.decide(less, state) as readonly ChannelsEvent[];
      expect(channels.decide(other, evolveOf(channels)(state, event!))).to.have.length(1);
    }
  });

  it('may lose their names by erasure, without reserving the empty name', () => {
    const [created] = run([createChannel()]).events;
    const erased = { ...created!, data: { ...created!.data, secret: { name: '' } } } as typeof created;
    const twice = { ...erased!, data: { ...erased!.data, channelId: 'other' } } as typeof created;
    given(erased!, twice!)
      .when(createChannel('x'))
      .then(run([createChannel('x')]).events[0]!);
  });

  const who = fc.constantFrom(asUser(ADA), asUser(BOB), asAdmin(CYD));
  const id = fc.constantFrom('a', 'b', 'c');
  const name = fc.constantFrom('One', 'one', 'TWO', 'two ', 'three', '');
  const list = fc.subarray([ADA, BOB, CYD]);
  const command: fc.Arbitrary<ChannelsCommand> = fc.oneof(
    fc
      .tuple(id, name, who, fc.boolean(), list)
      .map(([channelId, named, by, isPrivate, members]) =>
        createChannel(named, { channelId, by: by.userId, isPrivate, members }),
      ),
    fc
      .record({ channelId: id, by: who }, { requiredKeys: ['channelId', 'by'] })
      .chain((base) =>
        fc
          .record({ name, isPrivate: fc.boolean(), members: list }, { requiredKeys: [] })
          .map((more) => updateChannel({ ...base, ...more })),
      ),
    fc.tuple(who, id).map(([by, channelId]) => deleteChannel(by, channelId)),
    id.map(eraseChannel),
  );

  it('have unique names and their creator as a member under any commands, and repeated commands have no effect', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const fresh = commands.filter(
          (each, at) =>
            each.type !== 'CreateChannel' ||
            commands.findIndex((one) => one.type === each.type && one.channelId === each.channelId) === at,
        );
        const { state } = run(fresh);
        const all = [...state.channels.values()];
        const names = all.map((each) => nameKey(each.name));
        expect(new Set(names).size).to.equal(names.length);
        expect([...state.names].map(([key]) => key)).to.have.members(names);
        const memberships = all.reduce((sum, each) => countMembers(sum, undefined, each), noCounts);
        expect([...state.memberships].flat()).to.have.members([...memberships].flat());
        for (const each of all) {
          expect(each.members).to.include(each.createdBy);
          expect(new Set(each.members).size).to.equal(each.members.length);
        }
        for (const each of fresh) {
          const before = channels.decide(each, state);
          if (isRejection(before) || each.type === 'CreateChannel') continue;
          const { state: after } = run([each], run(fresh).events);
          const again = channels.decide(each, after);
          expect(isRejection(again) || again.length === 0, JSON.stringify(each)).to.equal(true);
        }
      }),
    );
  });
});
