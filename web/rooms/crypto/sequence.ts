/** Recognises replayed and missing messages by their place in their sender's chain. */

export type Arrival =
  | { readonly kind: 'new' /** Messages before it that have not arrived. */; readonly missing: number }
  /** The same message again, under its own id: harmless. */
  | { readonly kind: 'known' }
  /** Its place in the chain is taken by another message. */
  | { readonly kind: 'replayed' };

export interface Arriving {
  readonly id: string;
  readonly senderId: string;
  readonly chainId: string;
  readonly messageIndex: number;
}

export interface Sequence {
  /** Records a message whose signature is valid. */
  accept(message: Arriving, options?: { readonly mayLackEarlier?: boolean }): Arrival;
}

export function createSequence(): Sequence {
  const chains = new Map<string, { next: number; readonly ids: Map<number, string> }>();
  return {
    accept({ id, senderId, chainId, messageIndex }, { mayLackEarlier = false } = {}) {
      const name = `${senderId} ${chainId}`;
      const chain = chains.get(name) ?? { next: mayLackEarlier ? messageIndex : 0, ids: new Map() };
      chains.set(name, chain);
      const known = chain.ids.get(messageIndex);
      if (known !== undefined) return { kind: known === id ? 'known' : 'replayed' };
      chain.ids.set(messageIndex, id);
      const missing = Math.max(0, messageIndex - chain.next);
      chain.next = Math.max(chain.next, messageIndex + 1);
      return { kind: 'new', missing };
    },
  };
}
