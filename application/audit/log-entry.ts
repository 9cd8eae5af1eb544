/** Entries of the transparency log: one line of JSON for each event, and facts about the transparency log itself. */
import { hash } from 'node:crypto';
import type { Position } from '../ports/index.js';

/** An event exactly as the store has it: nothing upcast or decrypted. */
export interface StoredEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: bigint;
  readonly position: Position;
  /** Stored type, for example `chat.MessagePosted.v1`, or `$streamDeleted`. */
  readonly type: string;
  /** Unix ms. */
  readonly recordedAt: number;
  /** JSON text or bytes. */
  readonly data: string | Uint8Array;
  readonly metadata: string | Uint8Array;
}

/** What an entry of an event says. Hashes are SHA-256 in base64; numbers of 64 bits are texts. */
export interface EventEntry {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly id: string;
  readonly type: string;
  /** Unix ms. */
  readonly time: number;
  readonly data: string;
  readonly metadata: string;
}

/** The key that signs from here on: `name+hash+base64`. */
export interface KeyEntry {
  readonly key: string;
}

/** The log was restored from a backup: events after this position were lost, and later entries continue from there. */
export interface RestartEntry {
  readonly restart: string;
}

export type AuditEntry = EventEntry | KeyEntry | RestartEntry;

const sha256 = (content: string | Uint8Array) => hash('sha256', content, 'base64');

export const encodeAuditEntry = (entry: AuditEntry): Buffer => Buffer.from(JSON.stringify(entry));

export const eventEntry = (event: StoredEvent): EventEntry => ({
  position: String(event.position),
  stream: event.stream,
  revision: String(event.revision),
  id: event.id,
  type: event.type,
  time: event.recordedAt,
  data: sha256(event.data),
  metadata: sha256(event.metadata),
});

const POSITION = /^\d{1,19}$/;

/** Parses an entry; undefined if it is none of these. */
export function parseAuditEntry(line: Buffer): AuditEntry | undefined {
  try {
    const entry: Partial<EventEntry & KeyEntry & RestartEntry> = JSON.parse(line.toString());
    const { position, key, restart } = entry;
    const known = [position, key, restart].filter((each) => typeof each === 'string');
    const isPlaced = POSITION.test(position ?? restart ?? '0');
    return known.length === 1 && isPlaced ? (entry as AuditEntry) : undefined;
  } catch {
    return undefined;
  }
}

/** Log position of an entry: an event's own, or where the log continues; undefined for others. */
export function positionOf(entry: AuditEntry): Position | undefined {
  if ('position' in entry) return BigInt(entry.position);
  return 'restart' in entry ? BigInt(entry.restart) : undefined;
}
