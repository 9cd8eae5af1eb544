/** The participants that the service lists, with digests of their keys, verified and exchanged ones marked. */
import { computed, signal } from '@preact/signals';
import type { Participant } from './contract.js';
import { fingerprintOf, type PublicKey } from './crypto/protocol.js';
import { keyDigestOf } from './enter.js';
import type { Keyring } from './keyring.js';

/** `changed`: the service lists, or listed to this page, another key than the one that was verified or first seen. */
export type Verification = 'verified' | 'changed' | 'none';

export function createRoster(roomId: string, ownId: string, ownKeyDigest: string, keyring: Keyring) {
  const participants = signal<readonly Participant[]>([]);
  /** Keys as first seen by this page: messages are verified with these, so these are shown and compared. */
  const firstKeys = new Map<string, PublicKey>();
  const firstDigests = signal<ReadonlyMap<string, string>>(new Map());
  /** Of the signing keys that the service lists now, by participant. */
  const keyDigests = signal<ReadonlyMap<string, string>>(new Map());
  const fingerprints = signal<ReadonlyMap<string, string>>(new Map());

  async function update(people: readonly Participant[]) {
    const listed = people.flatMap(({ id, signingPublicKey: key }) => (key ? [[id, key] as const] : []));
    for (const [id, key] of listed) if (!firstKeys.has(id)) firstKeys.set(id, key);
    keyDigests.value = await mapped(listed, (_, key) => keyDigestOf(key));
    firstDigests.value = await mapped([...firstKeys], (_, key) => keyDigestOf(key));
    fingerprints.value = await mapped([...firstKeys], (id, key) => fingerprintOf(roomId, id, key));
    participants.value = people;
    await remember();
  }

  /** So that a key cannot be exchanged between two loads of the page. */
  async function remember() {
    const { seen = {} } = keyring.secrets.value;
    const isNew = [...firstDigests.value.keys()].some((id) => !Object.hasOwn(seen, id));
    if (!isNew) return;
    const digests = Object.fromEntries(firstDigests.value);
    await keyring.change((stored) => ({ ...stored, seen: { ...digests, ...stored.seen } }));
  }

  return {
    participants,
    fingerprints,
    /** The service lists a key for this participant that is not theirs. */
    isOwnKeyExchanged: computed(() => (keyDigests.value.get(ownId) ?? ownKeyDigest) !== ownKeyDigest),
    update,
    add: (person: Participant) => update([...participants.value.filter(({ id }) => id !== person.id), person]),
    verificationOf(participantId: string): Verification {
      const { verified, seen = {} } = keyring.secrets.value;
      const known = verified[participantId] ?? seen[participantId];
      if (known === undefined) return 'none';
      const isSame = [keyDigests, firstDigests].every(({ value }) => value.get(participantId) === known);
      if (!isSame) return 'changed';
      return verified[participantId] === undefined ? 'none' : 'verified';
    },
    async setVerified(participantId: string, isVerified: boolean) {
      const digest = isVerified ? firstDigests.value.get(participantId) : undefined;
      await keyring.change(({ verified: { [participantId]: _, ...others }, ...stored }) => ({
        ...stored,
        verified: digest ? { ...others, [participantId]: digest } : others,
        ...(digest && { seen: { ...stored.seen, [participantId]: digest } }),
      }));
    },
  };
}

async function mapped(
  keys: readonly (readonly [string, PublicKey])[],
  digest: (id: string, key: PublicKey) => Promise<string>,
): Promise<ReadonlyMap<string, string>> {
  return new Map(await Promise.all(keys.map(async ([id, key]) => [id, await digest(id, key)] as const)));
}
