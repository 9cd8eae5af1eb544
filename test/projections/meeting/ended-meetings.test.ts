/** Rows of ended meetings, until they are erased. */
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { endedMeetings as model } from '../../../projections/meeting/ended-meetings.js';
import { ended, HOUR, happened, meetingId, NOON, opened, roomId } from '../../support/meeting-fixtures.js';
import { projectionSpec } from '../../support/projection-spec.js';

describe('the rows of ended meetings', function () {
  this.timeout(120_000);
  const { given } = projectionSpec(model, ({ data }: RoomEvent) => roomStream(data.roomId));
  const other = (event: RoomEvent): RoomEvent =>
    ({ ...event, data: { ...event.data, meetingId: 'second' } }) as RoomEvent;
  const row = (_id: string, endedAt: number) => ({ _id, roomId, endedAt });

  it('are added at the end of each meeting, also of later ones in the same room', () =>
    given(opened(), ended(NOON), other(opened()), other(ended(NOON + HOUR))).thenRows(
      row(meetingId, NOON),
      row('second', NOON + HOUR),
    ));

  it('are deleted on erasure', () =>
    given(
      opened(),
      ended(NOON),
      other(opened()),
      other(ended(NOON + HOUR)),
      happened('MeetingErased', { erasedAt: NOON }),
    ).thenRows(row('second', NOON + HOUR)));
});
