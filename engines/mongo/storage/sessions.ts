/** What retryable writes have done, so that the same one sent again is answered and not done again. */
import { CommandError } from '../errors.js';
import { resultsKey, SESSIONS, sessionKey } from './layout.js';
import { type Entry, readEntry, readResults, writeEntry, writeResult } from './retry-results.js';
import type { Store } from './store.js';

/** Commands that may be retried. What one of them keeps says nothing to another. */
const KINDS = ['insert', 'update', 'delete', 'findAndModify'] as const;
export type Kind = (typeof KINDS)[number];

/** A session is forgotten after this time without a write, as the server promises its clients. */
const FORGET_MS = 30 * 60_000;
/** So many bytes of results become a piece of their own: what each turn of a long command writes stays small. */
const PIECE_BYTES = 8192;

export class Sessions {
  constructor(readonly store: Store) {}

  /** The command with that number; the number is judged by `begin`. */
  attempt(session: Buffer, txnNumber: bigint, kind: Kind): Attempt {
    return new Attempt(this.store, session, txnNumber, kind);
  }

  /** Removes sessions not used for half an hour. */
  async sweep(now = Date.now()): Promise<void> {
    const isOld = (entry: Buffer): boolean => readEntry(entry).time < now - FORGET_MS;
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

/** One retryable command: the results of its statements so far. */
export class Attempt {
  readonly #results = new Map<number, Buffer>();
  readonly #first: number;
  #known: Entry | undefined;
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
   * Reads what is known; in each step anew, as the same command may have come again meanwhile. Errors: 225 when a later
   * command of the session has been seen, 72 when one of another kind has had the number.
   */
  begin(): void {
    this.#added = [];
    const entry = this.store.get(sessionKey(this.session));
    this.#known = entry && readEntry(entry);
    if (!this.#known || this.#known.txnNumber < this.txnNumber) return;
    if (this.#known.txnNumber > this.txnNumber)
      throw new CommandError(
        225,
        `Cannot start transaction ${this.txnNumber} on session because a newer transaction ${this.#known.txnNumber} has already started.`,
      );
    for (; this.#piecesRead < this.#known.pieces; this.#piecesRead++)
      this.#read(this.store.get(resultsKey(this.session, this.#piecesRead))!);
    this.#read(this.#known.last);
  }

  /** What the statement has done, if anything. */
  result(statement: number): Buffer | undefined {
    return this.#results.get(statement);
  }

  add(statement: number, result: Buffer): void {
    this.#results.set(statement, result);
    this.#added.push(writeResult(this.#first + statement, result));
  }

  /** Keeps what was added; called in the step that wrote. */
  save(): void {
    const { txnNumber } = this;
    let { pieces, last } = this.#known ?? NOTHING;
    if (this.#known && this.#known.txnNumber < txnNumber) {
      removePieces(this.store, this.session, this.#known);
      ({ pieces, last } = NOTHING);
    }
    if (last.length >= PIECE_BYTES) {
      this.store.put(resultsKey(this.session, pieces++), last);
      last = NOTHING.last;
    }
    this.#known = { txnNumber, time: Date.now(), pieces, last: Buffer.concat([last, ...this.#added]) };
    this.#added = [];
    this.store.put(sessionKey(this.session), writeEntry(this.#known));
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

/** More than a batch may have. */
const STATEMENTS = 2 ** 20;

/** Statements of a command are numbered from here on, by its kind. */
const firstOf = (kind: Kind): number => KINDS.indexOf(kind) * STATEMENTS;

function removePieces(store: Store, session: Buffer, { pieces }: Entry): void {
  for (let piece = 0; piece < pieces; piece++) store.remove(resultsKey(session, piece));
}
