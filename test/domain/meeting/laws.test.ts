/** Invariants of a meeting room under any commands in any order. */
import { expect } from 'chai';
import fc from 'fast-check';
import { catalog } from '../../../domain/meeting/catalog.js';
import type { RoomCommand } from '../../../domain/meeting/commands.js';
import { MAX_WAITING } from '../../../domain/meeting/join.js';
import { room } from '../../../domain/meeting/room.js';
import { MAX_DEPARTED } from '../../../domain/meeting/state.js';
import { evolveOf, isRejection } from '../../../domain/shared/decider.js';
import { golden } from '../../support/catalog-spec.js';
import { DAY, HOUR, joinRoom, meetingId, NOON, openRoom, RETURN_MS, roomId } from '../../support/meeting-fixtures.js';

const evolve = evolveOf(room);
const person = fc.constantFrom('ada', 'bob', 'cleo', 'dan', 'eve', 'fay');
const node = fc.constantFrom('north', 'south');
const flag = fc.option(fc.boolean(), { nil: undefined });

/** A command without its time. */
type Timeless = RoomCommand extends infer Each ? Omit<Each, 'now'> : never;

const command: fc.Arbitrary<Timeless> = fc.oneof(
  fc
    .record({ maxParticipants: fc.integer({ min: 2, max: 4 }), returnMs: fc.constantFrom(0, RETURN_MS) })
    .map((terms) => openRoom(terms)),
  fc
    .tuple(person, node, fc.boolean(), fc.boolean(), fc.option(person, { nil: undefined }))
    .map(([who, where, isHost, isCreator, formerId]) =>
      joinRoom(who, {
        node: where,
        formerId,
        ...(isHost && { opening: { meetingId, maxParticipants: 3, returnMs: RETURN_MS } }),
        ...(isCreator && { creatorHash: 'hash-of-creator' }),
      }),
    ),
  fc.tuple(person, node).map(([participantId, where]) => ({
    type: 'ReturnToRoom',
    roomId,
    participantId,
    node: where,
    seat: `seat-of-${participantId}`,
  })),
  person.map((participantId) => ({
    type: 'LeaveRoom',
    roomId,
    participantId,
    seat: `seat-of-${participantId}`,
  })),
  person.map((who) => ({ type: 'LoseConnection', roomId, where: { seat: `seat-of-${who}` } })),
  node.map((where) => ({ type: 'LoseConnection', roomId, where: { node: where } })),
  node.map((where) => ({ type: 'RemovePeopleOfNode', roomId, node: where })),
  fc.constant({ type: 'EndRoom', roomId }),
  fc.tuple(person, flag, flag, flag).map(([by, isMuted, isVideoOff, isHandRaised]) => ({
    type: 'UpdateOneself',
    roomId,
    by,
    isMuted,
    isVideoOff,
    isHandRaised,
  })),
  fc
    .tuple(
      fc.constantFrom('RaiseHand', 'LowerHand', 'LockRoom', 'UnlockRoom', 'StartRecording', 'StopRecording'),
      person,
    )
    .map(([type, by]) => ({ type, roomId, by })),
  fc
    .tuple(
      fc.constantFrom(
        'AdmitUser',
        'RejectUser',
        'MuteParticipant',
        'UnmuteParticipant',
        'KickParticipant',
        'PromoteParticipant',
      ),
      person,
      person,
    )
    .map(([type, by, participantId]) => ({ type, roomId, by, participantId, reason: 'no' })),
) as fc.Arbitrary<Timeless>;

const history = fc.array(fc.tuple(command, fc.constantFrom(0, 1000, HOUR, DAY)), { maxLength: 60 });

describe('any history of a meeting room', () => {
  it('has a moderator while participants are present, respects the limits, and has no duplicates', () => {
    fc.assert(
      fc.property(history, (commands) => {
        let state = room.initialState;
        let now = NOON;
        for (const [each, passedMs] of commands) {
          now += passedMs;
          const timed = { ...each, now } as RoomCommand;
          // Participant ids are unique; only ReturnToRoom restores a former participant.
          if (timed.type === 'JoinRoom' && state.departed.some(({ id }) => id === timed.participantId)) continue;
          const events = room.decide(timed, state);
          if (isRejection(events)) continue;
          state = events.reduce(evolve, state);
          const { people, waiting, isOpen, isPreCreated, lockedBy, recordingBy, maxParticipants } = state;
          const { departed, overAt, returnMs } = state;
          const ids = [...people, ...waiting].map(({ id }) => id);
          expect(new Set(ids).size).to.equal(ids.length);
          expect(people.length).to.be.at.most(maxParticipants);
          expect(waiting.length).to.be.at.most(MAX_WAITING);
          expect(people.length > 0).to.equal(people.some(({ isModerator }) => isModerator));
          if (!isOpen) expect(ids).to.deep.equal([]);
          if (isOpen && !isPreCreated && people.length === 0) expect(overAt).to.be.at.most(now + returnMs);
          // A free seat goes to a waiting user if one is connected and may enter.
          const mayEnter = waiting.filter(
            ({ isDisconnected, kickedUntil = 0 }) => !isDisconnected && now >= kickedUntil,
          );
          if (!lockedBy && people.length > 0 && people.length < maxParticipants) expect(mayEnter).to.deep.equal([]);
          for (const { id } of departed) expect(ids).not.to.include(id);
          expect(departed.length).to.be.at.most(MAX_DEPARTED);
          if (people.length === 0)
            expect({ lockedBy, recordingBy }).to.deep.equal({ lockedBy: undefined, recordingBy: undefined });
          if (recordingBy) expect(ids).to.include(recordingBy);
          // A repeated command has no effect.
          const again = room.decide(timed, state);
          if (!isRejection(again)) expect(again).to.deep.equal([]);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('folds any events in any order, erased or not', () => {
    const events = Object.entries(catalog.events).flatMap(([type, spec]) => {
      const data = golden('meeting', `${type}.v1`);
      const erased = 'sealed' in spec ? [{ type, data: { ...data, secret: spec.sealed.erased } }] : [];
      return [{ type, data }, ...erased];
    });
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...events), { maxLength: 40 }), (some) => {
        const fold = () => (some as never[]).reduce(evolve, room.initialState);
        expect(fold()).to.deep.equal(fold());
      }),
    );
  });
});
