/** Commands of the room service: create, join, invite, post, burn. */

import type { Envelope, SigningPublicKey } from '../../domain/rooms/catalog.js';
import { MAX_MESSAGES, messagesStream } from '../../domain/rooms/messages.js';
import { roomStream } from '../../domain/rooms/room.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import type { CommandOutcome, Handled, KernelPorts } from '../command/index.js';
import type { CommandContext, EventLog } from '../ports/index.js';
import { messagesAggregate, roomAggregate } from './aggregates.js';
import { iso, type MessageView, messageView, type ParticipantView, participantView } from './audience.js';
import { hashOf, isRoomId, type RoomSession, sessionToken } from './authenticate.js';

export interface RoomPorts extends Pick<KernelPorts, 'handle' | 'idempotency' | 'vault' | 'derivation' | 'clock'> {
  readonly log: Pick<EventLog, 'retain'>;
}

export interface Newcomer {
  readonly name?: string;
  readonly signingPublicKey: SigningPublicKey;
}

export interface JoinResult {
  readonly roomId: string;
  readonly participantId: string;
  readonly sessionToken: string;
  readonly expiresAt: string;
  readonly participants: readonly ParticipantView[];
}

export type RoomCommands = ReturnType<typeof createRoomCommands>;

export function createRoomCommands({ handle, idempotency, log, vault, derivation, clock }: RoomPorts) {
  async function create(newcomer: Newcomer, ttlMs: number, context: CommandContext) {
    const roomId = derivation.id('rooms.room', context.commandId);
    // Events are encrypted, so the room's key must exist before the first event.
    const prepare = () =>
      Promise.all([vault.create(roomStream(roomId)), log.retain(messagesStream(roomId), { maxCount: MAX_MESSAGES })]);
    return enter({ type: 'CreateRoom', roomId, ttlMs }, newcomer, context, prepare);
  }

  const join = (roomId: string, inviteToken: string, newcomer: Newcomer, context: CommandContext) =>
    enter({ type: 'JoinRoom', roomId, inviteHash: hashOf(inviteToken) }, newcomer, context);

  async function enter(
    intention:
      | { type: 'CreateRoom'; roomId: string; ttlMs: number }
      | { type: 'JoinRoom'; roomId: string; inviteHash: string },
    newcomer: Newcomer,
    context: CommandContext,
    before?: () => Promise<unknown>,
  ): CommandOutcome<JoinResult> {
    const { roomId } = intention;
    const participantId = derivation.id('rooms.participant', context.commandId);
    const token = sessionToken(derivation, context.commandId);
    const participant = { ...newcomer, participantId, tokenHash: hashOf(token), now: clock.now() };
    const by = { ...context, actor: participantId };
    const outcome = await handle(roomAggregate, roomStream(roomId), { ...intention, ...participant }, by, before);
    if (isRejection(outcome)) return outcome;
    const { expiresAt, participants } = await outcome.state();
    const view = { expiresAt: iso(expiresAt), participants: participants.map(participantView) };
    return { body: { roomId, participantId, sessionToken: token, ...view }, position: outcome.position };
  }

  async function invite(
    { roomId, participant, room }: RoomSession,
    inviteToken: string,
    context: CommandContext,
  ): CommandOutcome<{ inviteId: string; expiresAt: string }> {
    const inviteId = derivation.id('rooms.invite', context.commandId);
    const fields = { inviteId, inviteHash: hashOf(inviteToken), by: participant.id, now: clock.now() };
    const command = { type: 'CreateInvite' as const, roomId, ...fields };
    const outcome = await handle(roomAggregate, roomStream(roomId), command, context);
    if (isRejection(outcome)) return outcome;
    return { body: { inviteId, expiresAt: iso(room.expiresAt) }, position: outcome.position };
  }

  async function post(
    { roomId, participant, room }: RoomSession,
    envelope: Envelope,
    context: CommandContext,
  ): CommandOutcome<MessageView> {
    const messageId = derivation.id('rooms.message', context.commandId);
    const now = clock.now();
    const { expiresAt } = room;
    const digest = digestOf(roomId, participant.id, envelope);
    const message = { messageId, by: participant.id, digest, envelope, expiresAt, now };
    const command = { type: 'PostMessage' as const, roomId, ...message };
    const outcome = await handle(messagesAggregate, messagesStream(roomId), command, context);
    if (isRejection(outcome)) return outcome;
    const [posted] = outcome.events;
    if (!posted) throw new Error('a message was posted without an event');
    // A repeated command answers with the time of the event that its first run wrote.
    const { createdAt } = posted.data;
    const ids = { id: messageId, roomId, senderId: participant.id };
    return { body: messageView({ ...ids, createdAt, expiresAt, envelope }), position: outcome.position };
  }

  /** Keyed digest: reveals nothing about an erased envelope. Short, as 1000 are kept per room. */
  function digestOf(roomId: string, senderId: string, envelope: Envelope): string {
    const { keyVersion, messageIndex, chainId, chainKeyNonce, chainKeyCiphertext } = envelope;
    const { nonce, ciphertext, signature } = envelope;
    const numbers = [String(keyVersion), String(messageIndex)];
    const texts = [chainId, chainKeyNonce, chainKeyCiphertext, nonce, ciphertext, signature];
    return derivation.id('rooms.envelope', roomId, senderId, ...numbers, ...texts);
  }

  /** Resolves when the event is stored and the key is destroyed; a reaction erases the rest. */
  async function burn(roomId: string, by: string, context: CommandContext) {
    const command = { type: 'BurnRoom' as const, roomId, by, now: clock.now() };
    return destroyKey(roomId, await handle(roomAggregate, roomStream(roomId), command, context));
  }

  /** Finds the result of an earlier run of the same burn command; undefined if there was none. */
  async function findBurnResult(roomId: string, context: CommandContext) {
    if (!isRoomId(roomId)) return undefined;
    const found = await idempotency.findResult(roomAggregate, roomStream(roomId), context);
    return found && destroyKey(roomId, found);
  }

  /** Runs for repeated commands too: the first run may have crashed before the key was destroyed. */
  async function destroyKey(roomId: string, outcome: Handled<unknown> | Rejection) {
    if (isRejection(outcome)) return outcome;
    await vault.destroy(roomStream(roomId));
    return { body: { success: true as const }, position: outcome.position };
  }

  return { create, join, invite, post, burn, findBurnResult };
}
