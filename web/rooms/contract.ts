/** Types of the room service's API, from its contract. */
import type { Envelope, PublicKey } from './crypto/protocol.js';

export interface Participant {
  readonly id: string;
  /** This page sends no names, so the service has only a placeholder. */
  readonly name: string;
  readonly joinedAt: string;
  readonly signingPublicKey: PublicKey | null;
}

export interface StoredMessage extends Envelope {
  readonly id: string;
  readonly roomId: string;
  readonly senderId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface RoomState {
  readonly roomId: string;
  readonly expiresAt: string;
  readonly participants: readonly Participant[];
  readonly messages: readonly StoredMessage[];
}

/** Answer to creating and to joining. */
export interface Entered {
  readonly roomId: string;
  readonly participantId: string;
  readonly sessionToken: string;
  readonly expiresAt: string;
  readonly participants: readonly Participant[];
}

export type RoomEvent =
  | { readonly type: 'CONNECTED'; readonly payload: { readonly participantId: string; readonly expiresAt: string } }
  | { readonly type: 'NEW_MESSAGE'; readonly payload: StoredMessage }
  | { readonly type: 'PARTICIPANT_JOINED'; readonly payload: Participant }
  | { readonly type: 'ROOM_BURNED' | 'ROOM_EXPIRED' | 'RESET'; readonly payload?: unknown };

/** Most characters of `ciphertext`. */
export const MAX_CIPHERTEXT = 32_768;
/** The service keeps the newest messages only. */
export const MAX_MESSAGES = 1000;
