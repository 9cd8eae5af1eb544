/** Why the log refuses a request; `wire/failures.ts` says it to the client in the server's words. */
import type { ExpectedRevision } from './expected.js';

export type Reason =
  | {
      readonly kind: 'wrong-expected-version';
      readonly stream: string;
      readonly expected: ExpectedRevision;
      /** -1 for no stream. */
      readonly actual: number;
    }
  | { readonly kind: 'stream-deleted'; readonly stream: string }
  | { readonly kind: 'append-too-large'; readonly limit: number }
  /** What stands at the position is not what was written there. */
  | { readonly kind: 'damaged'; readonly position: number }
  /** What leads to events is not what was written. */
  | { readonly kind: 'index-damaged'; readonly stream: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'bad-request'; readonly detail: string }
  | { readonly kind: 'missing-event-metadata'; readonly names: readonly string[] }
  /** The log is closed, or could not be written: whether the request took effect is not known. */
  | { readonly kind: 'unavailable' }
  /** The disk is full; nothing was stored. */
  | { readonly kind: 'disk-full' }
  | { readonly kind: 'scavenge-not-found'; readonly scavengeId: string };

export class Refused extends Error {
  constructor(readonly reason: Reason) {
    super(reason.kind);
  }
}
