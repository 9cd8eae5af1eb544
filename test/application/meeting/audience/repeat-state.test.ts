/** What people of a meeting are told of a command that changes nothing, and when that is not true any more. */
import { expect } from 'chai';
import { createMeetingAudience } from '../../../../application/meeting/audience/audience.js';
import {
  isStillCurrent,
  type RepeatedCommand,
  repeatDeliveries,
} from '../../../../application/meeting/audience/repeat-state.js';
import type { RevealedEvent } from '../../../../application/ports/index.js';
import { route } from '../../../../application/subscription/audience.js';
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
    .reduce((state, event) => route(audience, state, event).state, audience.initialState);

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

describe('a command of a meeting that changes nothing', () => {
  it('is told like the first one where it is so, and to nobody where it is not', () => {
    const everybody = ['ada', 'bob'];
    for (const [repeated, so, not, told] of [
      [again('LockRoom'), [locked('ada')], [locked('ada'), unlocked('ada')], [['room-locked', everybody]]],
      [again('UnlockRoom'), [], [locked('ada')], [['room-unlocked', everybody]]],
      [again('StartRecording'), [recording], [recording, recorded], [['recording-started', everybody]]],
      [again('StopRecording'), [], [recording], [['recording-stopped', everybody]]],
      [
        again('MuteParticipant', 'ada', 'bob'),
        [muted],
        [muted, unmuted],
        [
          ['moderator-action', ['bob']],
          ['participant-updated', everybody],
        ],
      ],
      [
        again('UnmuteParticipant', 'ada', 'bob'),
        [],
        [muted],
        [
          ['moderator-action', ['bob']],
          ['participant-updated', everybody],
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
      expect(echoed(repeated, ...so), `${repeated.type}, so`).to.deep.equal(told);
      expect(echoed(repeated, ...not), `${repeated.type}, not so`).to.deep.equal([]);
    }
  });

  it('does not tell a moderator again who waits', () => {
    const promotion = again('PromoteParticipant', 'ada', 'bob');
    expect(echoed(promotion, promoted('bob', 'ada'), locked('ada'), requested('dan'))).to.deep.equal([
      ['moderator-action', ['bob']],
      ['participant-updated', ['ada', 'bob']],
    ]);
  });

  it('is taken back on its way to somebody where it is not so any more, or is not for them', () => {
    const rooms = after(...two, muted);
    const repeated = again('MuteParticipant', 'ada', 'bob');
    const [action, updated] = repeatDeliveries(audience, rooms, repeated).map(({ message }) => JSON.stringify(message));
    const still = (to: string, json: string, ...more: readonly MeetingEvent[]) =>
      isStillCurrent(audience, after(...two, muted, ...more), repeated, { to, json });
    expect(still('bob', action!)).to.equal(true);
    expect(still('ada', action!)).to.equal(false);
    expect(still('ada', updated!)).to.equal(true);
    // Another hand than when it was written.
    expect(still('ada', updated!, raised)).to.equal(false);
    expect(still('bob', action!, unmuted)).to.equal(false);
  });
});
