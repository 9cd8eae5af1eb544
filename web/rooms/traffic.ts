/** What the service has of a room's messages: exactly what it stores, as it sent it. */
import { signal } from '@preact/signals';
import type { StoredMessage } from './contract.js';

/** Messages kept for display. */
const MAX_ENTRIES = 100;

export interface TrafficTotals {
  readonly messages: number;
  /** Characters of all ciphertexts. */
  readonly characters: number;
}

export type Traffic = ReturnType<typeof createTraffic>;

export function createTraffic() {
  const newest = signal<readonly StoredMessage[]>([]);
  const totals = signal<TrafficTotals>({ messages: 0, characters: 0 });
  const seen = new Set<string>();
  return {
    newest,
    totals,
    add(messages: readonly StoredMessage[]) {
      const added = messages.filter(({ id }) => !seen.has(id));
      for (const { id } of added) seen.add(id);
      if (added.length === 0) return;
      newest.value = [...newest.value, ...added].slice(-MAX_ENTRIES);
      const characters = added.reduce((sum, { ciphertext }) => sum + ciphertext.length, totals.value.characters);
      totals.value = { messages: totals.value.messages + added.length, characters };
    },
    clear() {
      seen.clear();
      newest.value = [];
      totals.value = { messages: 0, characters: 0 };
    },
  };
}
