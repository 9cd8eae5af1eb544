/** Writes and reads the audit log. */

import { type AuditEvent, type AuditedAct, auditedAct, auditStream } from '../../../domain/chat/audit-log.js';
import type { ChatEvent } from '../../../domain/chat/catalog.js';
import { isRejection, rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import { streamList } from '../../concurrency/index.js';
import { awaitConsistent, type PositionedRow, withRows } from '../../consistency/index.js';
import type { CommandContext, Derivation, Position, RecordedEvent, Vault } from '../../ports/index.js';
import { causedBy, type Reaction } from '../../subscription/index.js';
import { auditAggregate } from '../aggregates.js';

export type AuditPorts = Pick<KernelPorts, 'handle' | 'rows' | 'projectionProgress' | 'vault' | 'clock'>;

export interface AuditEntry extends AuditedAct {
  readonly id: string;
  readonly createdAt: number;
}

export interface AuditRow extends PositionedRow, Omit<AuditEntry, 'id'> {
  readonly _id: string;
  readonly at: { toBigInt(): bigint };
  readonly subject?: string;
  readonly secret?: string;
}

export interface AuditQuery {
  readonly limit: number;
  readonly before?: string;
  readonly action?: string;
}

/** Rows in memory at a time: a row with all members of a channel may take 0.5 MB, and readers may be slow. */
export const AUDIT_PAGE = 20;

const unknownBefore = rejection('chat/unknown-before', 'invalid', 'before must be the id of an audit log entry');

export type Audit = ReturnType<typeof createAudit>;

export function createAudit({ handle, rows, projectionProgress, vault, clock }: AuditPorts) {
  /** Appends an audit event; `now` (Unix ms) selects the day stream. */
  async function note(event: AuditEvent, context: CommandContext, now = clock.now()): Promise<Position> {
    const outcome = await handle(auditAggregate, auditStream(now), event, context);
    if (isRejection(outcome)) throw new Error(`audit event was rejected: ${outcome.rejected}`);
    return outcome.position;
  }

  /**
   * Newest first, as pieces of the JSON `{entries: [AuditEntry]}`, which can be read once. Only a few entries are in
   * memory at a time.
   */
  async function list({ limit, before, action }: AuditQuery, seenByCaller?: Position) {
    const freshness = await awaitConsistent(projectionProgress, 'chat.audit', {
      lastAppend: projectionProgress.latestOf('chat'),
      seenByCaller,
    });
    const end = before === undefined ? undefined : await positionOf(before);
    if (before !== undefined && end === undefined) return unknownBefore;
    const filter = action === undefined ? {} : { action };
    const first = await readPage(filter, limit, end);
    return { ...withRows(freshness, first), pieces: () => streamList('{"entries":', pages(filter, limit, first), '}') };
  }

  const readPage = (filter: object, limit: number, end?: Position): Promise<readonly AuditRow[]> => {
    const at = end === undefined ? { $gt: 0n } : { $gt: 0n, $lt: end };
    const query = {
      filter: { ...filter, at },
      sort: { at: -1 as const },
      limit: Math.min(limit, AUDIT_PAGE),
    };
    return rows.find<AuditRow>('chat.audit', query);
  };

  async function* pages(filter: object, limit: number, first: readonly AuditRow[]) {
    let remaining = limit;
    for (let page = first; page.length > 0; page = await readPage(filter, remaining, page.at(-1)!.at.toBigInt())) {
      yield await Promise.all(page.map((each) => entryOf(vault, each)));
      remaining -= page.length;
      if (remaining === 0 || page.length < AUDIT_PAGE) return;
    }
  }

  async function positionOf(id: string): Promise<Position | undefined> {
    const [row] = await rows.find<AuditRow>('chat.audit', { filter: { _id: id }, limit: 1 });
    return row?.at.toBigInt();
  }

  return { note, list };
}

const NAME = 'chat.keep-acts';

/** Events in streams that are erased: those of messages and of users. */
type ErasableEvent = ChatEvent<'MessageDeleted' | 'PasswordSet'>;

/** Copies audited acts out of streams that are erased later. */
export function preserveActs(note: Audit['note'], derivation: Derivation): Reaction<ErasableEvent> {
  async function preserveAct(event: RecordedEvent<ErasableEvent>) {
    const act = auditedAct(event);
    if (!act) return;
    const { id: factId, recordedAt: doneAt, position } = event;
    // The fingerprint makes the handler look for an earlier copy, left by a crash just after the append.
    const context = { ...causedBy(derivation, NAME, event), fingerprint: derivation.id(NAME, factId) };
    await note({ type: 'ActKept', data: { factId, position: String(position), doneAt, ...act } }, context, doneAt);
  }
  const on = { MessageDeleted: preserveAct, PasswordSet: preserveAct };
  return { name: NAME, retryInBackground: true, on };
}

/** Leaves out texts after their key was destroyed. */
export async function entryOf(vault: Pick<Vault, 'open'>, row: AuditRow): Promise<AuditEntry> {
  const { _id: id, action, actorId, targetType, targetId, createdAt, metadata, subject, secret } = row;
  const texts = subject && secret ? await vault.open(subject, secret) : undefined;
  return { id, action, actorId, targetType, targetId, createdAt, metadata: { ...metadata, ...texts } };
}
