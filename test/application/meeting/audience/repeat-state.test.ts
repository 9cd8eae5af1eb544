/** Messages repeated for a command without effect, as long as its state still holds. */
import { expect } from 'chai';
import { createMeetingAudience } from '../../../../application/meeting/audience/audience.js';
import {
  isStillCurrent,
  type RepeatedCommand,
  repeatDeliveries,
} from '../../../../application/meeting/audience/repeat-state.js';
import type { RevealedEvent } from '../../../../application/ports/index.js';
import { routeEvent } from '../../../../application/subscription/audience.js';
import type { MeetingEvent } from '../../../../domain/meeting/catalog.js';
import {
  happened,
  joined,
  locked,
  NOON,
  opened,
  promoted,
  requested,
  roomId,
  unlocked,
} from '../../../support/meeting-fixtures.js';

const audience = createMeetingAudience({ resumeToken: (id) => `token-of-${id}` });

const after = (...events: readonly MeetingEvent[]) =>
  events
    .map((event) => ({ ...event, recordedAt: NOON }) as unknown as RevealedEvent)
    .reduce((state, event) => routeEvent(audience, state, event).state, audience.initialState);

const two = [opened(), joined('ada', true), joined('bob')];
const muted = happened('ParticipantMuted', { participantId: 'bob', mutedAt: NOON, by: 'ada' });
const unmuted = happened('ParticipantUnmuted', { participantId: 'bob', unmutedAt: NOON, by: 'ada' });
const raised = happened('HandRaised', { participantId: 'bob', raisedAt: NOON });
const lowered = happened('HandLowered', { participantId: 'bob', loweredAt: NOON });
const recording = happened('RecordingStarted', { startedAt: NOON, by: 'ada' });
const recorded = happened('RecordingStopped', { stoppedAt: NOON, by: 'ada' });

const again = (type: RepeatedCommand['type'], by = 'ada', participantId?: string): RepeatedCommand => ({
  type,
  roomId,
  by,
  at: NOON + 1,
  ...(participantId !== undefined && { participantId }),
});
const echoed = (repeated: RepeatedCommand, ...events: readonly MeetingEvent[]) =>
  repeatDeliveries(audience, after(...two, ...events), repeated).map(({ to, message: { type } }) => [type, to]);

describe('a meeting command without effect', () => {
  it('repeats the messages of the current state, and none if the state differs', () => {
    const everyone = ['ada', 'bob'];
    for (const [repeated, matching, differing, messages] of [
      [again('LockRoom'), [locked('ada')], [locked('ada'), unlocked('ada')], [['room-locked', everyone]]],
      [again('UnlockRoom'), [], [locked('ada')], [['room-unlocked', everyone]]],
      [again('StartRecording'), [recording], [recording, recorded], [['recording-started', everyone]]],
      [again('StopRecording'), [], [recording], [['recording-stopped', everyone]]],
      [
        again('MuteParticipant', 'ada', 'bob'),
        [muted],
        [muted, unmuted],
        [
          ['moderator-action', ['bob']],
          ['participant-updated', everyone],
        ],
      ],
      [
        again('UnmuteParticipant', 'ada', 'bob'),
        [],
        [muted],
        [
          ['moderator-action', ['bob']],
          ['participant-updated', everyone],
        ],
      ],
      [
        again('RaiseHand', 'bob'),
        [raised],
        [raised, lowered],
        [
          ['raise-hand', ['ada']],
          ['participant-updated', ['ada']],
        ],
      ],
      [
        again('LowerHand', 'bob'),
        [],
        [raised],
        [
          ['lower-hand', ['ada']],
          ['participant-updated', ['ada']],
        ],
      ],
    ] as const) {
      expect(echoed(repeated, ...matching), `${repeated.type}, current`).to.deep.equal(messages);
      expect(echoed(repeated, ...differing), `${repeated.type}, outdated`).to.deep.equal([]);
    }
  });

  it('does not repeat waiting users to a moderator', () => {
    const promotion = again('PromoteParticipant', 'ada', 'bob');
    expect(echoed(promotion, promoted('bob', 'ada'), locked('ada'), requested('dan'))).to.deep.equal([
      ['moderator-action', ['bob']],
      ['participant-updated', ['ada', 'bob']],
    ]);
  });

  it('is dropped on delivery if the state has changed or the recipient is wrong', () => {
    const rooms = after(...two, muted);
    const repeated = again('MuteParticipant', 'ada', 'bob');
    const [action, updated] = repeatDeliveries(audience, rooms, repeated).map(({ message }) => JSON.stringify(message));
    const still = (to: string, json: string, ...more: readonly MeetingEvent[]) =>
      isStillCurrent(audience, after(...two, muted, ...more), repeated, { to, json });
    expect(still('bob', action!)).to.equal(true);
    expect(still('ada', action!)).to.equal(false);
    expect(still('ada', updated!)).to.equal(true);
    // The hand state differs from the repeated message.
    expect(still('ada', updated!, raised)).to.equal(false);
    expect(still('bob', action!, unmuted)).to.equal(false);
  });
});
