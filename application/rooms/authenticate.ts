/** Authenticates requests to rooms by session token. Reads the event log, as read models may lag. */
import { hash } from 'node:crypto';
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
import type { Clock, Derivation, Position } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';

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

/** Whether the text has the format of a room id. */
export const isRoomId = (text: string): boolean => /^[\w-]{22}$/.test(text);

const TOKEN = /^[\w-]{43}$/;

export function createRoomAuthenticator({ aggregates, clock }: { aggregates: AggregateStore; clock: Clock }) {
  async function load(roomId: string, isCurrent: (room: OpenRoom) => boolean): Promise<OpenRoom | Rejection> {
    if (!isRoomId(roomId)) return notFound;
    const stream = roomStream(roomId);
    const read = async (how: 'load' | 'reload') => {
      const { state, position, revision } = await aggregates[how](roomAggregate, stream);
      return { exists: revision >= 0, found: { roomId, room: state, position } };
    };
    let { exists, found } = await read('load');
    // Another node may have added the participant a moment ago.
    if (exists && isOpen(found.room, clock.now()) && !isCurrent(found)) ({ found } = await read('reload'));
    return isOpen(found.room, clock.now()) ? found : notFound;
  }

  return {
    /** Returns the room if it is open, no older than `seen`. */
    open: (roomId: string, seen: Position = 0n) => load(roomId, ({ position }) => position >= seen),

    /** Returns the room and the participant who owns the session token. */
    async authenticate(
      roomId: string,
      token: string | undefined,
      seen: Position = 0n,
    ): Promise<RoomSession | Rejection> {
      const hash = token !== undefined && TOKEN.test(token) ? hashOf(token) : undefined;
      const participantIn = ({ room }: OpenRoom) => (hash === undefined ? undefined : participantByToken(room, hash));
      const isCurrent = (found: OpenRoom) => found.position >= seen && (hash === undefined || !!participantIn(found));
      const found = await load(roomId, isCurrent);
      if ('rejected' in found) return found;
      const participant = participantIn(found);
      return participant ? { ...found, participant } : unauthorized;
    },
  };
}

export type RoomAuthenticator = ReturnType<typeof createRoomAuthenticator>;

/** SHA-256, base64url. Session and invite tokens are stored only as this hash. */
export const hashOf = (token: string): string => hash('sha256', token, 'base64url');

/** 32 bytes, base64url. */
export const sessionToken = (derivation: Derivation, commandId: string): string =>
  derivation.secret('rooms.session', commandId).toString('base64url');
