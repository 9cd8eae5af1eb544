/** Blob store port: stores data too large for the event log. Callers encrypt it first. */
import type { Position } from './event-log.js';

export interface FileStore {
  /** Starts a blob, which cannot be read yet. All methods throw `UnavailableError` if the store is unavailable. */
  begin(): Promise<Writing>;
  /** Reads bytes `from` (inclusive) to `to` (exclusive), in chunks of any size; throws `NotStored`. */
  read(stored: string, from: number, to: number): AsyncIterable<Uint8Array>;
  /** Deletes a blob. Idempotent. */
  remove(stored: string): Promise<void>;
  /** Marks a blob as referenced: it is no longer listed by `unsettled`. */
  settle(stored: string): Promise<void>;
  /** Lists blobs of ended processes that were never settled. */
  unsettled(): AsyncIterable<Unsettled>;
}

/** A stored file as it is sent to a client. */
export interface StoredFile {
  readonly contentType: string;
  readonly size: number;
  readonly sha256: string;
  readonly originalName: string;
  /** Log position of the access decision. */
  readonly position: Position;
  /** Throws `NotStored` if the file is missing or damaged. */
  read(from: number, to: number): AsyncIterable<Uint8Array>;
}

export interface Writing {
  /** Name of the blob; never chosen by a client. */
  readonly stored: string;
  write(bytes: Uint8Array): Promise<void>;
  /** Completes the blob: resolves once it is flushed and readable. `owner` names the future reference to it. */
  keep(owner: string): Promise<void>;
  /** Discards the blob. Idempotent. */
  drop(): Promise<void>;
}

export interface Unsettled {
  readonly stored: string;
  /** Owner given to `keep`; undefined if the blob was never completed. */
  readonly of: string | undefined;
}

/** The blob does not exist or is shorter than requested. */
export class NotStored extends Error {
  override readonly name = 'NotStored';
}
