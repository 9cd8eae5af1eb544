/** Which sockets of a meeting are closed with which code, and what remains in memory. */
import { expect } from 'chai';
import { createMeetingAudience } from '../../../../application/meeting/audience/audience.js';
import type { RevealedEvent } from '../../../../application/ports/index.js';
import { routeEvent } from '../../../../application/subscription/audience.js';
import type { MeetingEvent } from '../../../../domain/meeting/catalog.js';
import {
  ended,
  happened,
  joined,
  kicked,
  left,
  locked,
  lost,
  NOON,
  opened,
  requested,
  roomId,
} from '../../../support/meeting-fixtures.js';
import { delivered } from './audience-spec.js';

const audience = createMeetingAudience({ resumeToken: (id) => `token-of-${id}` });

/** The state after these events, and the deliveries of the last one. */
function after(...events: readonly MeetingEvent[]) {
  const recorded = events.map((event) => ({ ...event, recordedAt: NOON }) as unknown as RevealedEvent);
  const start = { state: audience.initialState, deliveries: [] as ReturnType<typeof routeEvent>['deliveries'] };
  return recorded.reduce((before, event) => routeEvent(audience, before.state, event), start);
}

const three = [opened(), joined('ada', true), joined('bob'), joined('cleo')];

describe('sockets of a meeting', () => {
  it('close with a specific code after a kick, a rejection or a lost node', () => {
    const refused = happened('EntryRefused', {
      participantId: 'dan',
      refusedAt: NOON,
      by: 'ada',
      secret: { reason: '' },
    });
    for (const [events, who, code] of [
      [[kicked('bob', 'ada')], 'bob', 4003],
      [[locked('ada'), requested('dan'), refused], 'dan', 4004],
      [[lost('cleo')], 'cleo', 1012],
    ] as const) {
      const ends = after(...three, ...events).deliveries.filter((each) => each.ends);
      expect(ends.map(({ to, endCode }) => [to, endCode])).to.deep.equal([[[who], code]]);
    }
  });

  it('stay open when a participant leaves', () => {
    expect(after(...three, left('bob')).deliveries.filter((each) => each.ends)).to.deep.equal([]);
  });

  it('do not repeat waiting users to a participant who is muted or unmuted', () => {
    const waiting = [...three, locked('ada'), requested('dan')];
    const muted = happened('ParticipantMuted', { participantId: 'cleo', mutedAt: NOON, by: 'ada' });
    const unmuted = happened('ParticipantUnmuted', { participantId: 'cleo', unmutedAt: NOON, by: 'ada' });
    for (const events of [[muted], [muted, unmuted]])
      for (const messages of Object.values(delivered(...waiting, ...events)))
        expect(messages.map(({ type }) => type)).not.to.include('waiting-room');
  });

  it('leave nothing in memory after the meeting has ended', () => {
    const open = [opened(), joined('ada', true), left('ada')];
    expect(after(...open).state.get(roomId)).not.to.equal(undefined);
    expect(after(...open, ended()).state.get(roomId)).to.equal(undefined);
  });
});
