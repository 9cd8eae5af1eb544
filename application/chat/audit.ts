/** The audit log: what is noted for it, and how it is read. */
import { type AuditEvent, auditStream } from '../../domain/chat/audit.js';
import { isRejection, type Rejection } from '../../domain/shared/decider.js';
import type { Handle } from '../command/handle.js';
import type { Clock, CommandContext, Position, Rows, Settled, Vault } from '../ports.js';
import { type Reflected, reflecting, showing, type Touched } from '../reflecting.js';
import { auditKind } from './kinds.js';

export interface AuditPorts {
  readonly handle: Handle;
  readonly rows: Rows;
  readonly settled: Settled;
  readonly vault: Pick<Vault, 'open'>;
  readonly clock: Clock;
}

export interface AuditEntry {
  readonly id: string;
  /** `<target>.<verb>`. */
  readonly action: string;
  readonly actorId: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly createdAt: number;
  readonly metadata: object;
}

export interface AuditRow extends Touched, Omit<AuditEntry, 'id'> {
  readonly _id: string;
  readonly at: { toBigInt(): bigint };
  readonly subject?: string;
  readonly secret?: string;
}

export interface Wanted {
  readonly limit: number;
  /** Of an entry: those just before it. */
  readonly before?: string;
  readonly action?: string;
}

const unknownBefore: Rejection = {
  rejected: 'chat/unknown-before',
  kind: 'invalid',
  detail: 'before must be an entry of the audit log',
};

export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ handle, rows, settled, vault, clock }: AuditPorts) {
  /** What no other event tells. */
  async function note(event: AuditEvent, context: CommandContext): Promise<Position> {
    const outcome = await handle(auditKind, auditStream(clock.now()), event, context);
    if (isRejection(outcome)) throw new Error(`what was noted was refused: ${outcome.rejected}`);
    return outcome.position;
  }

  /** Newest first. */
  async function list(
    { limit, before, action }: Wanted,
    seen?: Position,
  ): Promise<(Reflected & { readonly body: { readonly entries: readonly AuditEntry[] } }) | Rejection> {
    const reflected = await reflecting(settled, 'chat.audit', { told: settled.latestOf('chat'), seen });
    const end = before === undefined ? undefined : await positionOf(before);
    if (before !== undefined && end === undefined) return unknownBefore;
    const filter = {
      ...(action !== undefined && { action }),
      at: end === undefined ? { $gt: 0n } : { $gt: 0n, $lt: end },
    };
    const found = await rows.find<AuditRow>('chat.audit', { filter, sort: { at: -1 }, limit });
    const entries = await Promise.all(found.map((each) => entryOf(vault, each)));
    return { body: { entries }, ...showing(reflected, found) };
  }

  async function positionOf(id: string): Promise<Position | undefined> {
    const [row] = await rows.find<AuditRow>('chat.audit', { filter: { _id: id }, limit: 1 });
    return row?.at.toBigInt();
  }

  return { note, list };
}

/** Texts that nobody can read any more are left out. */
export async function entryOf(vault: Pick<Vault, 'open'>, row: AuditRow): Promise<AuditEntry> {
  const { _id: id, action, actorId, targetType, targetId, createdAt, metadata, subject, secret } = row;
  const texts = subject && secret ? await vault.open(subject, secret) : undefined;
  return { id, action, actorId, targetType, targetId, createdAt, metadata: { ...metadata, ...texts } };
}
