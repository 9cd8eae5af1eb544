/** Records the results of retryable writes, so that a repeated command is answered instead of executed again. */
import { CommandError } from '../errors.js';
import { resultsKey, SESSIONS, sessionKey } from './layout.js';
import { type Entry, readEntry, readResults, writeEntry, writeResult } from './retry-results.js';
import type { Store } from './store.js';

/** Retryable commands. A result stored for one kind is not valid for another. */
const KINDS = ['insert', 'update', 'delete', 'findAndModify'] as const;
export type Kind = (typeof KINDS)[number];

/** Milliseconds without a write until a session is forgotten, as the server promises its clients. */
const SESSION_TIMEOUT_MS = 30 * 60_000;
/** Bytes of results that become a separate piece, so that each slice of a long command writes little. */
const PIECE_BYTES = 8192;

export class Sessions {
  constructor(readonly store: Store) {}

  /** Returns the command with that number; `begin` checks the number. */
  attempt(session: Buffer, txnNumber: bigint, kind: Kind): Attempt {
    return new Attempt(this.store, session, txnNumber, kind);
  }

  /** Removes sessions that have been idle for half an hour. */
  async sweep(now = Date.now()): Promise<void> {
    const isOld = (entry: Buffer): boolean => readEntry(entry).time < now - SESSION_TIMEOUT_MS;
    const old: Buffer[] = [];
    for (const { key, value } of this.store.entries(SESSIONS)) if (isOld(value)) old.push(key);
    for (let at = 0; at < old.length; at += 500)
      await this.store.write(() => {
        for (const key of old.slice(at, at + 500)) {
          const value = this.store.get(key);
          if (!value || !isOld(value)) continue;
          removePieces(this.store, key.subarray(1), readEntry(value));
          this.store.remove(key);
        }
        return true;
      });
  }
}

/** One retryable command with the results of its statements so far. */
export class Attempt {
  readonly #results = new Map<number, Buffer>();
  readonly #first: number;
  #entry: Entry | undefined;
  #piecesRead = 0;
  #added: Buffer[] = [];

  constructor(
    readonly store: Store,
    readonly session: Buffer,
    readonly txnNumber: bigint,
    kind: Kind,
  ) {
    this.#first = firstOf(kind);
  }

  /**
   * Reads the stored results; in every step anew, since the same command may have arrived again meanwhile. Errors: 225
   * after a later command of the session, 72 if a command of another kind used the number.
   */
  begin(): void {
    this.#added = [];
    const entry = this.store.get(sessionKey(this.session));
    this.#entry = entry && readEntry(entry);
    if (!this.#entry || this.#entry.txnNumber < this.txnNumber) return;
    if (this.#entry.txnNumber > this.txnNumber)
      throw new CommandError(
        225,
        `Cannot start transaction ${this.txnNumber} on session because a newer transaction ${this.#entry.txnNumber} has already started.`,
      );
    for (; this.#piecesRead < this.#entry.pieces; this.#piecesRead++)
      this.#read(this.store.get(resultsKey(this.session, this.#piecesRead))!);
    this.#read(this.#entry.last);
  }

  /** Result of a statement, if it has run. */
  result(statement: number): Buffer | undefined {
    return this.#results.get(statement);
  }

  add(statement: number, result: Buffer): void {
    this.#results.set(statement, result);
    this.#added.push(writeResult(this.#first + statement, result));
  }

  /** Stores the added results; call in the step that produced them. */
  save(): void {
    const { txnNumber } = this;
    let { pieces, last } = this.#entry ?? NOTHING;
    if (this.#entry && this.#entry.txnNumber < txnNumber) {
      removePieces(this.store, this.session, this.#entry);
      ({ pieces, last } = NOTHING);
    }
    if (last.length >= PIECE_BYTES) {
      this.store.put(resultsKey(this.session, pieces++), last);
      last = NOTHING.last;
    }
    this.#entry = { txnNumber, time: Date.now(), pieces, last: Buffer.concat([last, ...this.#added]) };
    this.#added = [];
    this.store.put(sessionKey(this.session), writeEntry(this.#entry));
  }

  #read(results: Buffer): void {
    for (const { number, result } of readResults(results)) {
      const statement = number - this.#first;
      if (statement < 0 || statement >= STATEMENTS)
        throw new CommandError(72, 'This txnNumber was used before by a command of another kind');
      this.#results.set(statement, result);
    }
  }
}

const NOTHING = { pieces: 0, last: Buffer.alloc(0) };

/** More statements than a batch may have. */
const STATEMENTS = 2 ** 20;

/** Number of a command's first statement, by kind. */
const firstOf = (kind: Kind): number => KINDS.indexOf(kind) * STATEMENTS;

function removePieces(store: Store, session: Buffer, { pieces }: Entry): void {
  for (let piece = 0; piece < pieces; piece++) store.remove(resultsKey(session, piece));
}
