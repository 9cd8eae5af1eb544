/** Past states of meeting rooms. */
import { catalog, type RoomEvent } from '../../domain/meeting/catalog.js';
import { room } from '../../domain/meeting/room.js';
import { roomIdOf } from '../../domain/meeting/room-id.js';
import { type RoomState, roomStream } from '../../domain/meeting/state.js';
import { evolveOf } from '../../domain/shared/index.js';
import type { ThingKind } from '../audit/index.js';

interface PastRoom {
  readonly room: RoomState;
  readonly title?: string | undefined;
}

const evolveRoom = evolveOf(room);

const meetings: ThingKind<PastRoom> = {
  name: 'meeting',
  catalog,
  initialState: { room: room.initialState },
  streamOf(text) {
    const id = roomIdOf(text);
    return id && roomStream(id);
  },
  evolve: ({ room, title }, event: RoomEvent) => ({
    room: evolveRoom(room, event),
    title: event.type === 'RoomOpened' ? (event.data.secret as { title?: string }).title : title,
  }),
  view({ room, title }, { secret }) {
    const { isOpen, meetingId, isPreCreated, maxParticipants, passwordHash, lockedBy, recordingBy } = room;
    if (meetingId === '') return undefined;
    if (!isOpen) return { isOpen, lastMeetingId: meetingId };
    return {
      isOpen,
      meetingId,
      title: secret(title ?? null),
      isPreCreated,
      maxParticipants,
      hasPassword: passwordHash !== undefined,
      lockedBy: lockedBy ?? null,
      recordingBy: recordingBy ?? null,
      people: room.people.map(({ id, name, isModerator, isMuted, isVideoOff, isHandRaised, isDisconnected }) => ({
        id,
        name: secret(name),
        isModerator,
        isMuted,
        isVideoOff,
        isHandRaised,
        isConnected: !isDisconnected,
      })),
      waiting: room.waiting.map(({ id, name }) => ({ id, name: secret(name) })),
    };
  },
};

export const meetingThings: readonly ThingKind[] = [meetings];
