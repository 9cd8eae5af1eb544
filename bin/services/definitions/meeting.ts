/** Events and read models of the meeting service. */
import { meetingThings } from '../../../application/meeting/past-states.js';
import { catalog } from '../../../domain/meeting/catalog.js';
import { endedMeetings } from '../../../projections/meeting/ended-meetings.js';
import type { ServiceDefinition } from '../../node/service.js';

export const meeting: ServiceDefinition<typeof catalog> = {
  name: 'meeting',
  catalog,
  projections: [endedMeetings],
  things: meetingThings,
};
