/** Entries of the audit log in words. */
import { adminTexts, auditActions } from '../texts/admin.js';
import type { Names } from './directory.js';

const texts = adminTexts.audit;

export interface AuditEntry {
  readonly id: string;
  /** `<target>.<verb>` */
  readonly action: string;
  readonly actorId: string;
  readonly targetType: string;
  readonly targetId: string;
  readonly createdAt: number;
  readonly metadata: { readonly [name: string]: unknown };
}

const SYSTEM = 'system';

export const actorOf = ({ actorId }: AuditEntry, names: Names): string =>
  actorId === SYSTEM ? texts.system : (names.users.get(actorId) ?? texts.unknownUser);

export const sentenceOf = ({ action }: AuditEntry): string => auditActions[action] ?? action;

/** The name of what an entry is about, or its id. */
export function targetOf({ targetType, targetId, metadata }: AuditEntry, names: Names): string | undefined {
  if (targetType === 'user') return names.users.get(targetId) ?? texts.unknownUser;
  if (typeof metadata.name === 'string') return metadata.name;
  if (targetType === 'channel') return names.channels.get(targetId) ?? targetId;
  if (targetType === 'settings' || targetType === 'server') return undefined;
  const { channelId } = metadata;
  const channel = typeof channelId === 'string' ? names.channels.get(channelId) : undefined;
  return channel === undefined ? targetId : texts.inChannel(channel);
}

/** Details as `[label, text]`, with names in place of ids. */
export function detailsOf({ metadata }: AuditEntry, names: Names): readonly (readonly [string, string])[] {
  const nameOf = (id: unknown) => names.users.get(String(id)) ?? names.channels.get(String(id)) ?? String(id);
  return Object.entries(metadata).flatMap(([name, value]) => {
    if (name === 'name' || value === '' || (Array.isArray(value) && value.length === 0)) return [];
    const text = Array.isArray(value) ? value.map(nameOf).join(', ') : (wordOf(value) ?? nameOf(value));
    return [[texts.details[name] ?? name, text] as const];
  });
}

const wordOf = (value: unknown) => (typeof value === 'boolean' ? (value ? texts.yes : texts.no) : undefined);
