/** Projects the audit log: one row per action. Texts stay sealed. */
import type { RecordedEvent } from '../../application/ports/index.js';
import { type AuditEntry, auditEntryFor, type ErasableFact } from '../../domain/chat/audit-log.js';
import type { ChatEvent } from '../../domain/chat/catalog.js';
import { channelSubject } from '../../domain/chat/events/channels.js';
import { SETTINGS_SUBJECT } from '../../domain/chat/events/settings.js';
import { longOf, type Projection, type RowChange } from '../kernel/index.js';

type AuditedEvent = ChatEvent<
  | 'UserAdded'
  | 'RoleChanged'
  | 'UserRemoved'
  | 'UserLeft'
  | 'UserErased'
  | 'PasswordSet'
  | 'ServerRenamed'
  | 'ChannelCreated'
  | 'ChannelUpdated'
  | 'ChannelDeleted'
  | 'WebhookCreated'
  | 'WebhookDeleted'
  | 'MessageDeleted'
  | 'SignInLimitReached'
  | 'Exported'
  | 'ActKept'
>;

interface AuditRowInput extends AuditEntry {
  readonly sealed?: { readonly subject: string; readonly secret: string };
}

type Fact = Pick<RecordedEvent<AuditedEvent>, 'id' | 'position' | 'recordedAt'>;

function row({ id, position, recordedAt }: Fact, act: AuditRowInput): RowChange[] {
  const { action, by, target, metadata = {}, sealed = {} } = act;
  const [targetType, targetId] = target;
  const about = { action, actorId: by, targetType, targetId, createdAt: recordedAt, metadata };
  // Its own position, also when a preserved copy of the event repeats it later.
  const at = longOf(position);
  return [{ make: id, row: { _at: at, at, ...about, ...sealed } }];
}

/** Actor of entries caused by unknown people. */
const SYSTEM = 'system';

export const audit: Projection<AuditedEvent> = {
  name: 'chat.audit',
  version: 2,
  indexes: [{ key: { at: 1 } }, { key: { action: 1, at: 1 } }],
  on: {
    UserAdded(event) {
      const { userId, isAdmin, how, by } = event.data;
      // Only additions by an admin are audited.
      if (by === undefined) return [];
      return row(event, { action: 'user.add', by, target: ['user', userId], metadata: { isAdmin, how } });
    },
    RoleChanged(event) {
      const { userId, isAdmin, by } = event.data;
      const metadata = { role: isAdmin ? 'admin' : 'user' };
      return row(event, { action: 'user.change-role', by, target: ['user', userId], metadata });
    },
    UserRemoved: (event) =>
      row(event, { action: 'user.remove', by: event.data.by, target: ['user', event.data.userId] }),
    UserLeft: (event) =>
      row(event, { action: 'user.exit', by: event.data.userId, target: ['user', event.data.userId] }),
    UserErased: (event) => row(event, { action: 'user.erase', by: event.data.by, target: ['user', event.data.userId] }),
    PasswordSet: rowOfErasable,
    ServerRenamed(event) {
      const { by, secret } = event.data;
      const sealed = { subject: SETTINGS_SUBJECT, secret };
      return row(event, { action: 'settings.update', by, target: ['settings', 'main'], sealed });
    },
    ChannelCreated(event) {
      const { channelId, createdBy: by, isPrivate, members, secret } = event.data;
      const metadata = { isPrivate, members };
      const sealed = { subject: channelSubject({ channelId }), secret };
      return row(event, { action: 'channel.create', by, target: ['channel', channelId], metadata, sealed });
    },
    ChannelUpdated(event) {
      const { channelId, by, isPrivate, joined, left, secret } = event.data;
      const metadata = { ...(isPrivate !== undefined && { isPrivate }), joined, left };
      const sealed = { subject: channelSubject({ channelId }), secret };
      return row(event, { action: 'channel.update', by, target: ['channel', channelId], metadata, sealed });
    },
    ChannelDeleted: (event) =>
      row(event, { action: 'channel.delete', by: event.data.by, target: ['channel', event.data.channelId] }),
    WebhookCreated(event) {
      const { webhookId, channelId, createdBy: by, secret } = event.data;
      const sealed = { subject: channelSubject({ channelId }), secret };
      const metadata = { channelId };
      return row(event, { action: 'webhook.create', by, target: ['webhook', webhookId], metadata, sealed });
    },
    WebhookDeleted(event) {
      const { webhookId, channelId, by } = event.data;
      const metadata = { channelId };
      return row(event, { action: 'webhook.delete', by, target: ['webhook', webhookId], metadata });
    },
    MessageDeleted: rowOfErasable,
    SignInLimitReached(event) {
      const { addressId, limit, userId } = event.data;
      const target = userId === undefined ? (['address', addressId] as const) : (['user', userId] as const);
      return row(event, { action: 'sign-in.limit', by: SYSTEM, target, metadata: { limit } });
    },
    Exported: (event) => row(event, { action: 'server.export', by: event.data.by, target: ['server', 'main'] }),
    // Same row as that of the original event; does nothing if it exists.
    ActKept({ data: { factId: id, position: positionText, doneAt: recordedAt, targetType, targetId, ...act } }) {
      const position = BigInt(positionText);
      return row({ id, position, recordedAt }, { ...act, target: [targetType, targetId] });
    },
  },
};

function rowOfErasable(event: RecordedEvent<ErasableFact>): RowChange[] {
  const act = auditEntryFor(event);
  return act ? row(event, act) : [];
}
