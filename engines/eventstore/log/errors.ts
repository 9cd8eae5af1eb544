/** Reasons why the log refuses a request; `wire/failures.ts` translates them into the server's errors. */
import type { ExpectedRevision } from './expected.js';

export type Reason =
  | {
      readonly kind: 'wrong-expected-version';
      readonly stream: string;
      readonly expected: ExpectedRevision;
      /** -1 if the stream does not exist. */
      readonly actual: number;
    }
  | { readonly kind: 'stream-deleted'; readonly stream: string }
  | { readonly kind: 'append-too-large'; readonly limit: number }
  /** The stored event fails its checksum. */
  | { readonly kind: 'damaged'; readonly position: number }
  /** An index that leads to events is damaged. */
  | { readonly kind: 'index-damaged'; readonly stream: string }
  | { readonly kind: 'timeout' }
  | { readonly kind: 'bad-request'; readonly detail: string }
  | { readonly kind: 'missing-event-metadata'; readonly names: readonly string[] }
  /** The log is closed or failed to write: the outcome of the request is unknown. */
  | { readonly kind: 'unavailable' }
  /** The disk is full; nothing was stored. */
  | { readonly kind: 'disk-full' };

export class RequestRefused extends Error {
  constructor(readonly reason: Reason) {
    super(reason.kind);
  }
}
