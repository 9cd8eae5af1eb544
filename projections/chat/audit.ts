/** Projects the audit log: one row per act. Texts stay sealed. */
import type { RecordedEvent } from '../../application/ports/index.js';
import { type AuditedAct, type AuditedEvent, auditedAct, auditedActs } from '../../domain/chat/audit-log.js';
import { type ChatEvent, catalog } from '../../domain/chat/catalog.js';
import type { EventHandlers, EventSpec } from '../../domain/shared/index.js';
import { longOf, type Projection, type RowChange } from '../kernel/index.js';

type Recorded = Pick<RecordedEvent, 'id' | 'position' | 'recordedAt'>;

function rowOf({ id, position, recordedAt: createdAt }: Recorded, act: AuditedAct, sealed: object = {}): RowChange[] {
  // Its own position, also when a preserved copy of the event repeats it later.
  const at = longOf(position);
  return [{ make: id, row: { _at: at, at, createdAt, ...act, ...sealed } }];
}

/** Events whose secrets are shown to auditors. Those of others are addresses and passwords. */
const WITH_TEXTS: readonly string[] = ['ServerRenamed', 'ChannelCreated', 'ChannelUpdated', 'WebhookCreated'];

function sealedTextsOf({ type, data }: RecordedEvent<AuditedEvent>): object {
  const { sealed }: EventSpec = catalog.events[type];
  return WITH_TEXTS.includes(type) && sealed && 'secret' in data
    ? { subject: sealed.subject(data), secret: data.secret }
    : {};
}

function project(event: RecordedEvent<AuditedEvent>): RowChange[] {
  const act = auditedAct(event);
  return act ? rowOf(event, act, sealedTextsOf(event)) : [];
}

export const audit: Projection<AuditedEvent | ChatEvent<'ActKept'>> = {
  name: 'chat.audit',
  version: 2,
  indexes: [{ key: { at: 1 } }, { key: { action: 1, at: 1 } }],
  on: {
    ...(Object.fromEntries(Object.keys(auditedActs).map((type) => [type, project])) as EventHandlers<
      RecordedEvent<AuditedEvent>,
      RowChange[]
    >),
    // Same row as that of the original event; does nothing if it exists.
    ActKept: ({ data: { factId: id, position, doneAt: recordedAt, ...act } }) =>
      rowOf({ id, position: BigInt(position), recordedAt }, act),
  },
};
