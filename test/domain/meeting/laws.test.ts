/** What holds in a meeting room whatever people do in it, in whatever order. */
import { expect } from 'chai';
import fc from 'fast-check';
import { catalog } from '../../../domain/meeting/catalog.js';
import { MAX_WAITING } from '../../../domain/meeting/entering.js';
import { type RoomCommand, room } from '../../../domain/meeting/room.js';
import { evolveOf, isRejection } from '../../../domain/shared/decider.js';
import { golden } from '../../support/golden.js';
import { DAY, HOUR, hostRoom, joinRoom, NOON, openRoom, roomId } from '../../support/meeting.js';

const evolve = evolveOf(room);
const person = fc.constantFrom('ada', 'bob', 'cleo', 'dan', 'eve', 'fay');
const node = fc.constantFrom('north', 'south');
const flag = fc.option(fc.boolean(), { nil: undefined });

/** A command at a time that is told later. */
type Timeless = RoomCommand extends infer Each ? Omit<Each, 'now'> : never;

const command: fc.Arbitrary<Timeless> = fc.oneof(
  fc.record({ maxParticipants: fc.integer({ min: 2, max: 4 }) }).map((terms) => openRoom(terms)),
  fc.tuple(person, node, fc.boolean(), fc.boolean()).map(([who, where, isHost, isCreator]) =>
    (isHost ? hostRoom : joinRoom)(who, {
      node: where,
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
  node.map((where) => ({ type: 'LoseNode', roomId, node: where })),
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

describe('whatever happens in a meeting room', () => {
  it('has one who leads while there are people, nobody over its cap, and nobody twice', () => {
    fc.assert(
      fc.property(history, (commands) => {
        let state = room.initialState;
        let now = NOON;
        for (const [each, later] of commands) {
          now += later;
          const given = { ...each, now } as RoomCommand;
          const events = room.decide(given, state);
          if (isRejection(events)) continue;
          state = events.reduce(evolve, state);
          const { people, waiting, isOpen, isPreCreated, lockedBy, recordingBy, maxParticipants } = state;
          const ids = [...people, ...waiting].map(({ id }) => id);
          expect(new Set(ids).size).to.equal(ids.length);
          expect(people.length).to.be.at.most(maxParticipants);
          expect(waiting.length).to.be.at.most(MAX_WAITING);
          expect(people.length > 0).to.equal(people.some(({ isModerator }) => isModerator));
          if (!isOpen) expect(ids).to.deep.equal([]);
          if (isOpen && !isPreCreated) expect(people).not.to.deep.equal([]);
          if (people.length === 0)
            expect({ lockedBy, recordingBy }).to.deep.equal({ lockedBy: undefined, recordingBy: undefined });
          if (recordingBy) expect(ids).to.include(recordingBy);
          // Said again, it changes nothing.
          const again = room.decide(given, state);
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
