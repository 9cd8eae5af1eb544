/** Who may enter: the log has the last word on which rooms are open and whose a token is, not a lagging row. */
import {
  isOpen,
  notFound,
  type Participant,
  participantByToken,
  type RoomState,
  roomStream,
} from '../../domain/rooms/room.js';
import type { Rejection } from '../../domain/shared/index.js';
import type { AggregateStore } from '../command/index.js';
import type { Clock, Position } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';
import { hashOf } from './tokens.js';

export interface OpenRoom {
  readonly roomId: string;
  readonly room: RoomState;
  readonly position: Position;
}

export interface RoomSession extends OpenRoom {
  readonly participant: Participant;
}

/** The session token is missing, malformed or of another room. */
export const unauthorized: Rejection = { rejected: 'rooms/unauthorized', kind: 'unauthenticated' };

/** Whether a room could be called so. */
export const isRoomId = (text: string): boolean => /^[\w-]{22}$/.test(text);

const TOKEN = /^[\w-]{43}$/;

export function createRoomAdmission({ streams, clock }: { streams: AggregateStore; clock: Clock }) {
  async function load(roomId: string, isFresh: (room: OpenRoom) => boolean): Promise<OpenRoom | Rejection> {
    if (!isRoomId(roomId)) return notFound;
    const stream = roomStream(roomId);
    const read = async (how: 'load' | 'reload') => {
      const { state, position, revision } = await streams[how](roomAggregate, stream);
      return { known: revision >= 0, found: { roomId, room: state, position } };
    };
    let { known, found } = await read('load');
    // Another node may have let somebody in a moment ago.
    if (known && isOpen(found.room, clock.now()) && !isFresh(found)) ({ found } = await read('reload'));
    return isOpen(found.room, clock.now()) ? found : notFound;
  }

  return {
    /** The room, if it is open, at least as it was at `seen`. */
    open: (roomId: string, seen: Position = 0n) => load(roomId, ({ position }) => position >= seen),

    /** The room and the participant whose session token it is. */
    async authenticate(roomId: string, token: string | undefined, seen: Position = 0n): Promise<RoomSession | Rejection> {
      const hash = token !== undefined && TOKEN.test(token) ? hashOf(token) : undefined;
      const whose = ({ room }: OpenRoom) => (hash === undefined ? undefined : participantByToken(room, hash));
      const fresh = (found: OpenRoom) => found.position >= seen && (hash === undefined || !!whose(found));
      const found = await load(roomId, fresh);
      if ('rejected' in found) return found;
      const participant = whose(found);
      return participant ? { ...found, participant } : unauthorized;
    },
  };
}

export type RoomAuthenticator = ReturnType<typeof createRoomAdmission>;
