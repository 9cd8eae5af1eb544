/** Turns stored messages into opened ones: finds the keys, verifies, decrypts, and checks the place in the chain. */
import { decodeContent } from './content.js';
import type { Participant, StoredMessage } from './contract.js';
import type { Fault, OpenedMessage } from './conversation.js';
import {
  createSequence,
  EnvelopeError,
  importVerifyingKey,
  open,
  type PublicKey,
  type RoomKey,
} from './crypto/protocol.js';

export interface MessageOpener {
  /** A participant's key never changes after it was first seen. */
  meet(participants: readonly Participant[]): void;
  knows(senderId: string): boolean;
  /** Verified and decrypted, not yet checked against its chain. */
  open(message: StoredMessage): Promise<OpenedMessage['result']>;
  /** In order. Undefined for a message that was added before. */
  place(message: StoredMessage, result: OpenedMessage['result'], mayLackEarlier: boolean): OpenedMessage | undefined;
}

export function createMessageOpener(roomId: string, roomKeys: ReadonlyMap<number, RoomKey>): MessageOpener {
  const publicKeys = new Map<string, PublicKey>();
  const verifyingKeys = new Map<string, Promise<CryptoKey>>();
  const sequence = createSequence();
  const seen = new Set<string>();
  const fault = (reason: Fault) => ({ kind: 'fault', fault: reason }) as const;

  function verifyingKeyOf(senderId: string): Promise<CryptoKey> | undefined {
    const publicKey = publicKeys.get(senderId);
    if (publicKey && !verifyingKeys.has(senderId)) verifyingKeys.set(senderId, importVerifyingKey(publicKey));
    return verifyingKeys.get(senderId);
  }

  return {
    meet(participants) {
      for (const { id, signingPublicKey } of participants)
        if (signingPublicKey && !publicKeys.has(id)) publicKeys.set(id, signingPublicKey);
    },
    knows: (senderId) => publicKeys.has(senderId),
    async open(message) {
      const verifyingKey = await verifyingKeyOf(message.senderId)?.catch(() => undefined);
      if (!verifyingKey) return fault('unknown-sender');
      try {
        const place = { roomId, senderId: message.senderId };
        const bytes = await open(roomKeys.get(message.keyVersion), verifyingKey, place, message);
        return decodeContent(bytes) ?? fault('not-understood');
      } catch (error) {
        return fault(error instanceof EnvelopeError ? error.fault : 'damaged');
      }
    },
    place(message, result, mayLackEarlier) {
      const { id, senderId, createdAt, keyVersion, chainId, messageIndex } = message;
      if (seen.has(id)) return undefined;
      seen.add(id);
      const opened = { id, senderId, at: Date.parse(createdAt), keyVersion, chainId, messageIndex, result, missing: 0 };
      const isForged = result.kind === 'fault' && ['forged', 'unknown-sender'].includes(result.fault);
      if (isForged) return opened;
      const arrival = sequence.accept(message, { mayLackEarlier });
      if (arrival.kind === 'known') return undefined;
      if (arrival.kind === 'replayed') return { ...opened, result: fault('replayed') };
      return { ...opened, missing: arrival.missing };
    },
  };
}
