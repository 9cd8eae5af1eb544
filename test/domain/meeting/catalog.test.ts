/** The event catalog of meetings: emitted events match their schemas, and stored versions stay readable. */
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import { chatSent, reactionSent } from '../../../domain/meeting/meeting-chat.js';
import { room } from '../../../domain/meeting/room.js';
import { specifyCatalog } from '../../support/catalog-spec.js';
import { specOf } from '../../support/decider-spec.js';
import { everything, meetingId, NOON, roomId } from '../../support/meeting-fixtures.js';

const sender = { roomId, meetingId, participantId: 'ada', sentAt: NOON };

describe('the event catalog of meetings', () =>
  specifyCatalog({
    catalog,
    emitted: [
      ...specOf(room).run(everything).events,
      chatSent(sender, 'Hello', '1799999999999-bob'),
      reactionSent(sender, 'clap'),
      { type: 'RequestRecorded', data: { recordedAt: NOON } },
      { type: 'SignalRelayed', data: { roomId, meetingId, count: 42 } },
    ],
    subjectOf: () => meetingSubject({ meetingId }),
    ending: ['MeetingErased'],
    optional: {
      RoomOpened: ['creatorHash', 'passwordHash', 'scheduledStart', 'scheduledEnd', 'returnMs'],
      EntryRequested: ['formerId'],
      EntryGranted: ['by'],
      ParticipantPromoted: ['by'],
      ParticipantLeft: ['isLost'],
      EntryWithdrawn: ['isLost'],
    },
  }));
