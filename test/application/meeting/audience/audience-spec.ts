/** Who in a meeting is told what of an event, by what has happened before. */
import { createMeetingAudience } from '../../../../application/meeting/audience/audience.js';
import type { RevealedEvent } from '../../../../application/ports/index.js';
import { type Message, route } from '../../../../application/subscription/audience.js';
import type { MeetingEvent } from '../../../../domain/meeting/catalog.js';
import { NOON } from '../../../support/meeting-fixtures.js';

const audience = createMeetingAudience({ resumeToken: (id) => `token-of-${id}` });

/** What each person is told of the last event, after those before it: `ends` where it is the last they are told. */
export function told(...events: readonly MeetingEvent[]) {
  const recorded = events.map((event) => ({ ...event, recordedAt: NOON }) as unknown as RevealedEvent<MeetingEvent>);
  const last = recorded.pop()!;
  const before = recorded.reduce((state, event) => route(audience, state, event).state, audience.initialState);
  const by: { [participantId: string]: Message[] } = {};
  for (const { to, message, ends } of route(audience, before, last).deliveries)
    for (const each of to) by[each] = [...(by[each] ?? []), ends ? { ...message, ends } : message];
  return by;
}
