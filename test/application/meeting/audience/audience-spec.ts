/** Deliveries of meeting events for tests of the audience. */
import { createMeetingAudience } from '../../../../application/meeting/audience/audience.js';
import type { RevealedEvent } from '../../../../application/ports/index.js';
import { type Message, routeEvent } from '../../../../application/subscription/audience.js';
import type { MeetingEvent } from '../../../../domain/meeting/catalog.js';
import { NOON } from '../../../support/meeting-fixtures.js';

const audience = createMeetingAudience({ resumeToken: (id) => `token-of-${id}` });

/** Messages per participant for the last event, given the ones before it; `ends` marks the end of a stream. */
export function delivered(...events: readonly MeetingEvent[]) {
  const recorded = events.map((event) => ({ ...event, recordedAt: NOON }) as unknown as RevealedEvent<MeetingEvent>);
  const last = recorded.pop()!;
  const before = recorded.reduce((state, event) => routeEvent(audience, state, event).state, audience.initialState);
  const by: { [participantId: string]: Message[] } = {};
  for (const { to, message, ends } of routeEvent(audience, before, last).deliveries)
    for (const each of to) by[each] = [...(by[each] ?? []), ends ? { ...message, ends } : message];
  return by;
}
