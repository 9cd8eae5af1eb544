/** The rules of a room. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  isOpen,
  MAX_INVITES,
  MAX_PARTICIPANTS,
  type RoomCommand,
  type RoomEvent,
  room,
} from '../../../domain/rooms/room.js';
import { evolveOf, isRejection } from '../../../domain/shared/decider.js';
import { specOf } from '../../support/decider-spec.js';
import {
  burned,
  burnRoom,
  created,
  createInvite,
  createRoom,
  erased,
  expired,
  HOUR,
  invited,
  joined,
  joinRoom,
  NOON,
  redeemed,
  roomId,
  signingPublicKey,
} from '../../support/room-fixtures.js';

const { given, after, run } = specOf(room);
const ada = [created, joined('ada')];
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, i) => make(i));

describe('a room', () => {
  it('is joined by its creator', () => {
    given().when(createRoom('Ada')).then(created, joined('ada', 'Ada'));
  });

  it('normalizes names, and names an empty one "Unknown Guest"', () => {
    given().when(createRoom()).then(created, joined('ada', 'Unknown Guest'));
    given().when(createRoom(' \t\n ')).then(created, joined('ada', 'Unknown Guest'));
    given().when(createRoom('  Ada \n  Lovelace ')).then(created, joined('ada', 'Ada Lovelace'));
    given()
      .when(createRoom('🦉'.repeat(60)))
      .then(created, joined('ada', '🦉'.repeat(48)));
  });

  it('never stores a private key', () => {
    const command = { ...createRoom('ada'), signingPublicKey: { ...signingPublicKey, d: 'private' } };
    expect(JSON.stringify(room.decide(command as RoomCommand, room.initialState))).not.to.contain('private');
  });

  it('is created once', () => {
    given(...ada)
      .when(createRoom('Eve'))
      .thenRejected('rooms/room-exists');
    given(...ada, burned, erased)
      .when(createRoom('Eve'))
      .thenRejected('rooms/room-exists');
  });

  it('admits a user with an invite', () => {
    given(...ada, invited('one'))
      .when(joinRoom('one', 'bob'))
      .then(redeemed('one', 'bob'), joined('bob'));
  });

  it('accepts invites of all participants, each valid until used', () => {
    const both = [created, joined('ada'), joined('bob')];
    for (const by of ['ada', 'bob'])
      given(...both)
        .when(createInvite('one', by))
        .then(invited('one', by));
    given(...both, invited('one'), invited('two'), redeemed('one', 'bob'))
      .when(joinRoom('two', 'cleo'))
      .then(redeemed('two', 'cleo'), joined('cleo'));
  });

  it('accepts an invite once', () => {
    given(...ada, invited('one'), redeemed('one', 'bob'), joined('bob'))
      .when(joinRoom('one', 'eve'))
      .thenRejected('rooms/invite-used', { kind: 'gone' });
  });

  it('accepts only its own invites', () => {
    given(...ada, invited('one'))
      .when(joinRoom('two', 'eve'))
      .thenRejected('rooms/invite-not-found', { kind: 'not-found' });
  });

  it('does not use up an invite while it is full', () => {
    const full = [...ada, ...times(MAX_PARTICIPANTS - 1, (index) => joined(`guest-${index}`)), invited('one')];
    given(...full)
      .when(joinRoom('one', 'guest'))
      .thenRejected('rooms/room-full', { kind: 'conflict' });
    expect(after(full).invites).to.deep.equal([{ id: 'one', tokenHash: 'hash-of-one', used: false }]);
  });

  it('lets only participants create invites', () => {
    given(...ada)
      .when(createInvite('one'))
      .then(invited('one'));
    given(...ada)
      .when(createInvite('one', 'eve'))
      .thenRejected('rooms/not-a-participant', { kind: 'unauthenticated' });
  });

  it('rejects a duplicate invite token', () => {
    given(...ada, invited('one'))
      .when(createInvite('one'))
      .thenRejected('rooms/invite-exists', { kind: 'conflict' });
  });

  it('allows 64 invites in total, used or not', () => {
    const invites = times(MAX_INVITES, (index) => invited(`invite-${index}`));
    given(...ada, ...invites)
      .when(createInvite('one-more', 'ada', NOON + 1000))
      .thenRejected('rooms/too-many-invites', { kind: 'limit', retryAfterMs: HOUR - 1000 });
  });

  it('can be burned by any participant, permanently', () => {
    given(...ada)
      .when(burnRoom())
      .then(burned);
    for (const command of [burnRoom(), createInvite('one'), joinRoom('one', 'bob')]) {
      given(...ada, invited('one'), burned)
        .when(command)
        .thenRejected('rooms/room-not-found', { kind: 'not-found' });
    }
  });

  it('is closed from its expiry on, even if that is not recorded yet', () => {
    const end = NOON + HOUR;
    given(...ada)
      .when(createInvite('one', 'ada', end - 1))
      .then({ type: 'InviteCreated', data: { ...invited('one').data, createdAt: end - 1 } } as RoomEvent);
    for (const command of [createInvite('one', 'ada', end), joinRoom('one', 'bob', end), burnRoom('ada', end)]) {
      given(...ada, invited('one'))
        .when(command)
        .thenRejected('rooms/room-not-found');
    }
  });

  it('expires once, at its time', () => {
    const expire = (now: number): RoomCommand => ({ type: 'ExpireRoom', roomId, now });
    given(...ada)
      .when(expire(NOON + HOUR - 1))
      .thenNothing();
    given(...ada)
      .when(expire(NOON + HOUR))
      .then(expired);
    given(...ada, expired)
      .when(expire(NOON + HOUR + 1))
      .thenNothing();
    given(...ada, burned)
      .when(expire(NOON + HOUR))
      .thenNothing();
    given()
      .when(expire(NOON + HOUR))
      .thenNothing();
  });

  it('is erased once, after its end', () => {
    const erase: RoomCommand = { type: 'EraseRoom', roomId, now: NOON };
    given(...ada)
      .when(erase)
      .thenNothing();
    given(...ada, burned)
      .when(erase)
      .then(erased);
    given(...ada, expired)
      .when(erase)
      .then(erased);
    given(...ada, burned, erased)
      .when(erase)
      .thenNothing();
  });

  it('drops participants and invites from its state when it ends', () => {
    expect(after([...ada, invited('one'), burned])).to.include({ status: 'burned' });
    expect(JSON.stringify(after([...ada, invited('one'), burned]))).not.to.match(/ada|one/);
  });
});

const people = fc.integer({ min: 0, max: 24 }).map((index) => `p${index}`);
const invites = fc.integer({ min: 0, max: 80 }).map((index) => `i${index}`);
const now = fc.integer({ min: NOON, max: NOON + HOUR + 1000 });
const commands: fc.Arbitrary<RoomCommand> = fc.oneof(
  { weight: 1, arbitrary: fc.constant(createRoom('ada')) },
  {
    weight: 40,
    arbitrary: fc.tuple(invites, fc.oneof(fc.constant('ada'), people)).map(([invite, by]) => createInvite(invite, by)),
  },
  {
    weight: 40,
    arbitrary: fc.tuple(invites, people).map(([invite, person]) => joinRoom(invite, person)),
  },
  { weight: 1, arbitrary: fc.tuple(people, now).map(([by, at]) => burnRoom(by, at)) },
  { weight: 1, arbitrary: now.map((at) => ({ type: 'ExpireRoom' as const, roomId, now: at })) },
  { weight: 1, arbitrary: now.map((at) => ({ type: 'EraseRoom' as const, roomId, now: at })) },
);
const histories = fc.array(commands, { maxLength: 300, size: 'max' });

describe('any room', () => {
  it('keeps its invariants under any commands', () => {
    fc.assert(
      fc.property(histories, (list) => {
        const { events } = run([createRoom('ada'), ...list]);
        const count = (type: RoomEvent['type']) => events.filter((event) => event.type === type).length;
        expect(count('ParticipantJoined')).to.be.at.most(MAX_PARTICIPANTS);
        expect(count('InviteCreated')).to.be.at.most(MAX_INVITES);
        const spent = events.flatMap((event) => (event.type === 'InviteRedeemed' ? [event.data.inviteId] : []));
        expect(new Set(spent)).to.have.property('size', spent.length);
        const end = events.findIndex(({ type }) => type === 'RoomBurned' || type === 'RoomExpired');
        const afterEnd = end < 0 ? [] : events.slice(end + 1).map(({ type }) => type);
        expect(['', 'RoomErased']).to.include(afterEnd.join());
      }),
    );
  });

  it('does not change when a command is repeated', () => {
    fc.assert(
      fc.property(histories, commands, (list, command) => {
        const { state } = run([createRoom('ada'), ...list]);
        const first = room.decide(command, state);
        if (isRejection(first) || first.length === 0) return;
        const second = room.decide(command, first.reduce(evolveOf(room), state));
        expect(isRejection(second) || second.length === 0).to.equal(true);
      }),
      { numRuns: 300 },
    );
  });

  it('folds any event in any state, including erased ones', () => {
    const bobJoined = joined('bob');
    const events: RoomEvent[] = [
      ...[created, joined('ada'), invited('i1'), redeemed('i1', 'bob'), burned, expired, erased],
      { ...bobJoined, data: { ...bobJoined.data, secret: { name: 'Unknown Guest', signingPublicKey: null } } },
    ] as RoomEvent[];
    const unknown = { type: 'RoomPainted', data: { roomId } } as unknown as RoomEvent;
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events, unknown)), now, (history, at) => {
        expect(isOpen(after(history), at)).to.be.a('boolean');
      }),
    );
  });
});
