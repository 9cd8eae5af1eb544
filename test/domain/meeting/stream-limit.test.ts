/** Limits on the length of a room's stream, and commands that remain possible beyond them. */
import { expect } from 'chai';
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import type { RoomCommand } from '../../../domain/meeting/commands.js';
import { MAX_READABLE_EVENTS } from '../../../domain/meeting/leave.js';
import { room } from '../../../domain/meeting/room.js';
import { specOf } from '../../support/decider-spec.js';
import {
  DAY,
  does,
  doesTo,
  ended,
  happened,
  hosted,
  hostRoom,
  joined,
  joinRoom,
  leaveRoom,
  left,
  NOON,
  opened,
  openRoom,
  requested,
  roomId,
} from '../../support/meeting-fixtures.js';

const { given, after } = specOf(room);
const raised = happened('HandRaised', { participantId: 'bob', raisedAt: NOON });
const manyEvents = (count: number) => Array<RoomEvent>(count).fill(raised);
const occupied = [opened(), joined('ada', true), joined('bob'), requested('cleo')];
/** A stream with that many events and participants in the room. */
const streamOf = (count: number) => [...occupied, ...manyEvents(count - occupied.length)];
const by = { roomId, by: 'bob', now: NOON };
const to = { roomId, participantId: 'bob', now: NOON };

/** An empty room with that many events of an earlier meeting. */
const endedStream = (count: number) => [opened(), ...manyEvents(count - 2), ended()];

describe('a meeting room with a long stream', () => {
  const until: readonly (readonly [number, string, (count: number) => readonly RoomEvent[], RoomCommand[]])[] = [
    [
      20_000,
      'meeting/too-long',
      streamOf,
      [{ type: 'UpdateOneself', ...by, isMuted: true }, does('bob', 'LowerHand'), does('ada', 'RaiseHand')],
    ],
    [25_000, 'meeting/room-full', streamOf, [joinRoom('dan')]],
    [25_000, 'meeting/room-exists', endedStream, [openRoom({ meetingId: 'next' })]],
    [25_000, 'meeting/room-full', endedStream, [hostRoom('dan')]],
    [
      30_000,
      'meeting/too-long',
      streamOf,
      [
        { type: 'ReturnToRoom', ...to, node: 'south', seat: 'two' },
        does('ada', 'LockRoom'),
        does('ada', 'StartRecording'),
        doesTo('ada', 'MuteParticipant', 'bob'),
        doesTo('ada', 'PromoteParticipant', 'bob'),
      ],
    ],
  ];
  for (const [limit, rejected, stream, commands] of until)
    for (const command of commands)
      it(`at ${limit} events rejects ${command.type} with ${rejected}`, () => {
        expect(room.decide(command, after(stream(limit - 1))), 'one event less').to.be.an('array').that.is.not.empty;
        given(...stream(limit))
          .when(command)
          .thenRejected(rejected, { kind: rejected === 'meeting/room-exists' ? 'conflict' : 'limit' });
      });

  it('always accepts leaving, kicking, admitting, rejecting, ending and erasing, and repeats without effect', () => {
    const state = after(streamOf(40_000));
    const last = after([...endedStream(40_000), opened({ meetingId: 'next' })]);
    const always: readonly (readonly [RoomCommand, typeof state])[] = [
      [leaveRoom('bob'), state],
      [doesTo('ada', 'KickParticipant', 'bob'), state],
      [doesTo('ada', 'AdmitUser', 'cleo'), state],
      [{ ...doesTo('ada', 'AdmitUser', 'cleo'), type: 'RejectUser', reason: '' } as RoomCommand, state],
      [{ type: 'RemovePeopleOfNode', roomId, node: 'north', now: NOON }, state],
      [{ type: 'EndRoom', roomId, now: NOON + DAY }, last],
      [{ type: 'EraseMeeting', roomId, meetingId: 'first', now: NOON }, last],
    ];
    for (const [command, at] of always)
      expect(room.decide(command, at), command.type).to.be.an('array').that.is.not.empty;
    expect(room.decide(does('bob', 'RaiseHand'), state)).to.deep.equal([]);
  });

  it('is shortened by erasing its first meeting, and not by erasing a later one', () => {
    const [first, second] = [endedStream(15_000), inMeeting('second', endedStream(10_000))];
    const erased = (meetingId: string) => inMeeting(meetingId, [happened('MeetingErased', { erasedAt: NOON })]);
    const dan = openRoom({ meetingId: 'third' });
    given(...first, ...second, ...erased('second'))
      .when(dan)
      .thenRejected('meeting/room-exists');
    const opens = room.decide(dan, after([...first, ...second, ...erased('first')]));
    expect(opens).to.be.an('array').that.is.not.empty;
  });

  it('opened by a host erases readable meetings beyond the limit when it ends', () => {
    const meeting = (meetingId: string, count: number) =>
      inMeeting(meetingId, [hosted, joined('ada', true), ...manyEvents(count - 4), left('ada'), ended()]);
    const forgotten = (...events: readonly RoomEvent[]) => {
      const outcome = room.decide(leaveRoom('ada'), after(events.slice(0, -2)));
      expect(outcome).to.be.an('array');
      return (outcome as readonly RoomEvent[]).slice(2).map(({ type, data }) => `${type} ${data.meetingId}`);
    };
    const [small, half] = [100, MAX_READABLE_EVENTS / 2];
    expect(forgotten(...meeting('a', half), ...meeting('b', half))).to.deep.equal([]);
    expect(forgotten(...meeting('a', small), ...meeting('b', half), ...meeting('c', half))).to.deep.equal([
      'MeetingErased a',
    ]);
    expect(forgotten(...meeting('a', small), ...meeting('b', MAX_READABLE_EVENTS + 1))).to.deep.equal([
      'MeetingErased a',
      'MeetingErased b',
    ]);
  });
});

const inMeeting = (meetingId: string, events: readonly RoomEvent[]): readonly RoomEvent[] =>
  events.map((each) => ({ ...each, data: { ...each.data, meetingId } }) as RoomEvent);
