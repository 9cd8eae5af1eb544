/** Rows of rooms: equal to the decider, with the newest 1000 messages. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { RoomsEvent } from '../../../domain/rooms/catalog.js';
import { messages, messagesStream } from '../../../domain/rooms/messages.js';
import { type RoomCommand, type RoomEvent, room, roomStream } from '../../../domain/rooms/room.js';
import { state } from '../../../projections/rooms/room-state.js';
import { specOf } from '../../support/decider-spec.js';
import { projectionSpec, type ShownRow, sealed } from '../../support/projection-spec.js';
import {
  burned,
  burnRoom,
  created,
  createInvite,
  createRoom,
  envelope,
  erased,
  expired,
  HOUR,
  invited,
  joined,
  joinRoom,
  NOON,
  posted,
  postMessage,
  redeemed,
  roomId,
  signingPublicKey,
} from '../../support/room-fixtures.js';

const other = (event: RoomsEvent): RoomsEvent => ({ ...event, data: { ...event.data, roomId: 'other' } }) as RoomsEvent;
const postedTimes = (count: number) => Array.from({ length: count }, (_, n) => posted(`m${n}`));
const person = (id: string) => ({ id, joinedAt: NOON, secret: sealed({ name: id, signingPublicKey }) });
const roomRow = (...people: readonly string[]) => ({
  _id: roomId,
  room: roomId,
  createdAt: NOON,
  expiresAt: NOON + HOUR,
  participants: people.map(person),
});
const message = (revision: number) => ({
  revision,
  id: `m${revision}`,
  senderId: 'ada',
  createdAt: NOON,
  expiresAt: NOON + HOUR,
  secret: sealed({ envelope }),
});

type Messages = readonly { readonly id: string }[];
const messagesOf = ({ messages }: ShownRow) => (messages ?? []) as Messages;
const idsIn = (rows: readonly ShownRow[]) =>
  rows.filter(({ room }) => room === roomId).flatMap((row) => messagesOf(row).map(({ id }) => id));

describe('the rows of a room', function () {
  this.timeout(120_000);
  const { given } = projectionSpec(state, ({ type, data }: RoomsEvent) =>
    type === 'MessagePosted' ? messagesStream(data.roomId) : roomStream(data.roomId),
  );

  it('contain participants and expiry, and no tokens', () =>
    given(created, joined('ada'), invited('one'), redeemed('one', 'bob'), joined('bob')).thenRows(
      roomRow('ada', 'bob'),
    ));

  it('are indexed by room', () => {
    expect(state.indexes).to.deep.include({ key: { room: 1 } });
  });

  it('contain messages in order, sixteen per row, separate from the room row', async () => {
    const events = [created, ...postedTimes(40), other(created), other(posted('m0'))];
    const rows = await given(...events).rows();
    expect(rows.map((row) => [row._id, messagesOf(row).length])).to.deep.equal([
      [roomId, 0],
      [`${roomId}:00000000`, 16],
      [`${roomId}:00000001`, 16],
      [`${roomId}:00000002`, 8],
      ['other', 0],
      ['other:00000000', 1],
    ]);
    expect(rows.flatMap(messagesOf).slice(0, 40)).to.deep.equal(Array.from({ length: 40 }, (_, n) => message(n)));
  });

  for (const [count, firstRow] of [
    [1001, '00000000'],
    [1015, '00000000'],
    [1016, '00000001'],
  ] as const)
    it(`contain the newest thousand of ${count} messages, and no empty row`, async () => {
      const events = [created, other(created), other(posted('m0')), ...postedTimes(count)];
      const rows = await given(...events).rows();
      const expectedIds = Array.from({ length: 1000 }, (_, n) => `m${count - 1000 + n}`);
      expect(idsIn(rows)).to.deep.equal(expectedIds);
      expect(rows[1]?._id).to.equal(`${roomId}:${firstRow}`);
      expect(rows.at(-1)).to.have.property('_id', 'other:00000000');
    });

  for (const end of [burned, expired, erased])
    it(`are deleted with ${end.type}, unlike those of other rooms`, () =>
      given(created, joined('ada'), posted('m0'), other(created), end).thenRows({
        ...roomRow(),
        _id: 'other',
        room: 'other',
      }));

  it('of a message after the end are deleted with RoomErased', async () => {
    const ended = [created, joined('ada'), burned, posted('m0')];
    await given(...ended).thenRows({ _id: `${roomId}:00000000`, room: roomId, messages: [message(0)] });
    await given(...ended, erased).thenNoRows();
  });

  const people = fc.constantFrom('ada', 'bob', 'cy');
  const invites = fc.constantFrom('i0', 'i1', 'i2');
  const command: fc.Arbitrary<RoomCommand> = fc.oneof(
    { weight: 8, arbitrary: invites.map((invite) => createInvite(invite)) },
    { weight: 8, arbitrary: fc.tuple(invites, people).map(([invite, who]) => joinRoom(invite, who)) },
    { weight: 1, arbitrary: people.map((who) => burnRoom(who)) },
    { weight: 1, arbitrary: fc.constant({ type: 'ExpireRoom' as const, roomId, now: NOON + HOUR }) },
    { weight: 1, arbitrary: fc.constant({ type: 'EraseRoom' as const, roomId, now: NOON + HOUR }) },
  );

  it('equal the state of the decider after any commands', async () => {
    const histories = fc.tuple(fc.array(command, { maxLength: 30 }), fc.nat(40));
    const property = fc.asyncProperty(histories, async ([commands, posts]) => {
      const postCommands = Array.from({ length: posts }, (_, n) => postMessage(`m${n}`, 'ada', NOON + n * 60_000));
      const { events, state: known } = specOf(room).run([createRoom('ada'), ...commands]);
      const { events: postEvents } = specOf(messages).run(postCommands);
      const opening = events.slice(0, 2) as RoomEvent[];
      const rows = await given(...opening, ...postEvents, ...events.slice(2)).rows();
      const isOpen = known.status === 'open';
      const people = known.participants.map(({ id }) => id);
      expect(rows.slice(0, 1)).to.deep.equal(isOpen ? [roomRow(...people)] : []);
      expect(idsIn(rows)).to.deep.equal(isOpen ? postCommands.map(({ messageId }) => messageId) : []);
    });
    await fc.assert(property, { numRuns: 10 });
  });
});
