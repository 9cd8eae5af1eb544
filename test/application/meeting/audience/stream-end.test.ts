/** Who has to go from a meeting and with which close code, who is not told of those who wait, and what is left of it. */
import { expect } from 'chai';
import { createMeetingAudience } from '../../../../application/meeting/audience/audience.js';
import type { RevealedEvent } from '../../../../application/ports/index.js';
import { route } from '../../../../application/subscription/audience.js';
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
import { told } from './audience-spec.js';

const audience = createMeetingAudience({ resumeToken: (id) => `token-of-${id}` });

/** The state after these events, and what the last of them delivers. */
function after(...events: readonly MeetingEvent[]) {
  const recorded = events.map((event) => ({ ...event, recordedAt: NOON }) as unknown as RevealedEvent);
  const start = { state: audience.initialState, deliveries: [] as ReturnType<typeof route>['deliveries'] };
  return recorded.reduce((before, event) => route(audience, before.state, event), start);
}

const three = [opened(), joined('ada', true), joined('bob'), joined('cleo')];

describe('the sockets of a meeting', () => {
  it('are closed with a code of their own for who is kicked, rejected, or to come back', () => {
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

  it('stay open, all of them, for who goes by themselves, and for those who stay', () => {
    expect(after(...three, left('bob')).deliveries.filter((each) => each.ends)).to.deep.equal([]);
  });

  it('show who waits to nobody who only was muted, or heard again', () => {
    const waiting = [...three, locked('ada'), requested('dan')];
    const muted = happened('ParticipantMuted', { participantId: 'cleo', mutedAt: NOON, by: 'ada' });
    const unmuted = happened('ParticipantUnmuted', { participantId: 'cleo', unmutedAt: NOON, by: 'ada' });
    for (const events of [[muted], [muted, unmuted]])
      for (const messages of Object.values(told(...waiting, ...events)))
        expect(messages.map(({ type }) => type)).not.to.include('waiting-room');
  });

  it('leave nothing of a meeting that is over in memory', () => {
    const open = [opened(), joined('ada', true), left('ada')];
    expect(after(...open).state.get(roomId)).not.to.equal(undefined);
    expect(after(...open, ended()).state.get(roomId)).to.equal(undefined);
  });
});
