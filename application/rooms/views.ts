/** View models of rooms: times in ISO 8601, public keys as JWKs for `crypto.subtle.importKey`. */
import type { Envelope, SigningPublicKey } from '../../domain/rooms/catalog.js';
import type { Participant } from '../../domain/rooms/room.js';

export interface ParticipantView {
  readonly id: string;
  readonly name: string;
  readonly joinedAt: string;
  readonly signingPublicKey: (SigningPublicKey & { ext: true; key_ops: readonly ['verify'] }) | null;
}

export interface MessageView extends Envelope {
  readonly id: string;
  readonly roomId: string;
  readonly senderId: string;
  readonly createdAt: string;
  readonly expiresAt: string;
}

export interface Message {
  readonly id: string;
  readonly roomId: string;
  readonly senderId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly envelope: Envelope;
}

export const iso = (time: number): string => new Date(time).toISOString();

export function participantView({
  id,
  name,
  joinedAt,
  signingPublicKey,
}: Omit<Participant, 'tokenHash'>): ParticipantView {
  const key = signingPublicKey && { ...signingPublicKey, ext: true as const, key_ops: ['verify'] as const };
  return { id, name, joinedAt: iso(joinedAt), signingPublicKey: key };
}

export function messageView(message: Message): MessageView {
  const { id, roomId, senderId, createdAt, expiresAt, envelope } = message;
  return { ...envelope, id, roomId, senderId, createdAt: iso(createdAt), expiresAt: iso(expiresAt) };
}
