/** What retryable writes have done, so that the same one sent again is answered and not done again. */
import { CommandError } from '../errors.js';
import { SESSIONS, sessionKey } from './layout.js';
import type { Store } from './store.js';

/** One retryable command: the results of its statements so far, by statement number. */
export interface Attempt {
  readonly results: Map<number, Buffer>;
  /** Keeps the results; called in the step that wrote. */
  save(): void;
}

/** Commands that may be retried. What one of them keeps says nothing to another. */
const KINDS = ['insert', 'update', 'delete', 'findAndModify'] as const;
export type Kind = (typeof KINDS)[number];

/** A session is forgotten after this time without a write, as the server promises its clients. */
const FORGET_MS = 30 * 60_000;
const HEAD = 16;

export class Sessions {
  constructor(readonly store: Store) {}

  /**
   * What is known of a command; inside a step. Errors: 225 when a later command of the session has been seen, 72 when
   * one of another kind has had the number.
   */
  attempt(session: Buffer, txnNumber: bigint, kind: Kind): Attempt {
    const key = sessionKey(session);
    const known = this.store.get(key);
    const last = known?.readBigInt64LE(0) ?? -1n;
    if (last > txnNumber)
      throw new CommandError(
        225,
        `Cannot start transaction ${txnNumber} on session because a newer transaction ${last} has already started.`,
      );
    const results = last === txnNumber ? readResults(known!, kind) : new Map<number, Buffer>();
    return { results, save: () => this.store.put(key, writeResults(txnNumber, kind, results)) };
  }

  /** Removes sessions not used for half an hour. */
  async sweep(now = Date.now()): Promise<void> {
    const old: Buffer[] = [];
    for (const { key, value } of this.store.entries(SESSIONS))
      if (value.readDoubleLE(8) < now - FORGET_MS) old.push(key);
    for (let at = 0; at < old.length; at += 500)
      await this.store.write(() => {
        for (const key of old.slice(at, at + 500)) {
          const value = this.store.get(key);
          if (value && value.readDoubleLE(8) < now - FORGET_MS) this.store.remove(key);
        }
        return true;
      });
  }
}

/** Statements of a command are numbered from here on, by its kind; a batch has fewer. */
const firstOf = (kind: Kind): number => KINDS.indexOf(kind) * 2 ** 20;

/** The number, the time, and each result behind its statement number and length. */
function writeResults(txnNumber: bigint, kind: Kind, results: ReadonlyMap<number, Buffer>): Buffer {
  let size = HEAD;
  for (const result of results.values()) size += 8 + result.length;
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeBigInt64LE(txnNumber, 0);
  let at = bytes.writeDoubleLE(Date.now(), 8);
  for (const [statement, result] of results) {
    at = bytes.writeInt32LE(firstOf(kind) + statement, at);
    at = bytes.writeInt32LE(result.length, at);
    at += result.copy(bytes, at);
  }
  return bytes;
}

function readResults(bytes: Buffer, kind: Kind): Map<number, Buffer> {
  const results = new Map<number, Buffer>();
  const first = firstOf(kind);
  let at = HEAD;
  while (at < bytes.length) {
    const end = at + 8 + bytes.readInt32LE(at + 4);
    const statement = bytes.readInt32LE(at) - first;
    if (statement < 0 || statement >= 2 ** 20)
      throw new CommandError(72, 'This txnNumber was used before by a command of another kind');
    results.set(statement, bytes.subarray(at + 8, end));
    at = end;
  }
  return results;
}
