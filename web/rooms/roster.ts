/** The participants that the service lists, with digests of their keys: whose key was verified, whose was exchanged. */
import { computed, signal } from '@preact/signals';
import type { Participant } from './contract.js';
import { fingerprintOf, type PublicKey } from './crypto/protocol.js';
import { keyDigestOf } from './enter.js';
import type { Keyring } from './keyring.js';

/** `changed`: the service lists another key than the one that was verified. */
export type Verification = 'verified' | 'changed' | 'none';

export function createRoster(roomId: string, ownId: string, ownKeyDigest: string, keyring: Keyring) {
  const participants = signal<readonly Participant[]>([]);
  /** Of the signing keys, by participant. */
  const keyDigests = signal<ReadonlyMap<string, string>>(new Map());
  const fingerprints = signal<ReadonlyMap<string, string>>(new Map());

  async function update(people: readonly Participant[]) {
    const byKey = async (digest: (id: string, key: PublicKey) => Promise<string>) => {
      const digests = people.map(
        async ({ id, signingPublicKey: key }) => [id, key ? await digest(id, key) : ''] as const,
      );
      return new Map(await Promise.all(digests));
    };
    keyDigests.value = await byKey((_, key) => keyDigestOf(key));
    fingerprints.value = await byKey((id, key) => fingerprintOf(roomId, id, key));
    participants.value = people;
  }

  return {
    participants,
    fingerprints,
    /** The service lists a key for this participant that is not theirs. */
    isOwnKeyExchanged: computed(() => (keyDigests.value.get(ownId) ?? ownKeyDigest) !== ownKeyDigest),
    update,
    add: (person: Participant) => update([...participants.value.filter(({ id }) => id !== person.id), person]),
    verificationOf(participantId: string): Verification {
      const verified = keyring.secrets.value.verified[participantId];
      if (verified === undefined) return 'none';
      return keyDigests.value.get(participantId) === verified ? 'verified' : 'changed';
    },
    async setVerified(participantId: string, isVerified: boolean) {
      const digest = isVerified ? keyDigests.value.get(participantId) : undefined;
      await keyring.change(({ verified: { [participantId]: _, ...others }, ...stored }) => ({
        ...stored,
        verified: digest ? { ...others, [participantId]: digest } : others,
      }));
    },
  };
}
