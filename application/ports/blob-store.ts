/** Where bytes are kept that are too large for the log: a port. What it is given is sealed already. */

export interface FileStore {
  /** Begins something that nobody can read yet. Rejects, as all of these do, with `Unavailable` where nothing can be stored now. */
  begin(): Promise<Writing>;
  /** The bytes from `from` to before `to`, in pieces of any size; rejects with `NotStored`. */
  read(stored: string, from: number, to: number): AsyncIterable<Uint8Array>;
  /** For ever. Doing it again is fine. */
  remove(stored: string): Promise<void>;
  /** Whoever was told of it can answer for it now: it is not looked for any more. */
  settle(stored: string): Promise<void>;
  /** What was begun by processes that are gone, and never settled. */
  unsettled(): AsyncIterable<Unsettled>;
}

export interface Writing {
  /** What it will be called: never anything from outside. */
  readonly stored: string;
  write(bytes: Uint8Array): Promise<void>;
  /** Resolves when all of it is flushed, and can be read. Nobody answers for it yet: `of` says who is to know of it. */
  keep(of: string): Promise<void>;
  /** It comes to nothing. Doing it again is fine. */
  drop(): Promise<void>;
}

export interface Unsettled {
  readonly stored: string;
  /** Undefined where it never came to an end. */
  readonly of: string | undefined;
}

/** There is nothing of this name, or less than is asked for. */
export class NotStored extends Error {
  override readonly name = 'NotStored';
}
