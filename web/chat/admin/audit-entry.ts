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

/** Actors that are not users are parts of the service, for example its start. */
const USER_ID = /^[\w-]{22}$/;

export const actorOf = ({ actorId }: AuditEntry, names: Names): string =>
  names.users.get(actorId) ?? (USER_ID.test(actorId) ? texts.unknownUser : texts.system);

export const sentenceOf = ({ action }: AuditEntry): string => auditActions[action] ?? action;

/** The name of an entry's subject; undefined if the action has none. */
export function targetOf({ targetType, targetId, metadata }: AuditEntry, names: Names): string | undefined {
  if (targetType === 'user') return names.users.get(targetId) ?? texts.unknownUser;
  if (typeof metadata.name === 'string' && metadata.name !== '') return metadata.name;
  return targetType === 'channel' ? (names.channels.get(targetId) ?? targetId) : undefined;
}

/** Details as `[label, text]`, with names in place of ids. */
export function detailsOf(entry: AuditEntry, names: Names): readonly (readonly [string, string])[] {
  const { targetType, targetId, metadata } = entry;
  const isUnknown = targetType === 'user' ? !names.users.has(targetId) : targetType === 'webhook' && !metadata.name;
  const details: AuditEntry['metadata'] = { ...metadata, ...(isUnknown && { id: targetId }) };
  const nameOf = (id: unknown) => names.users.get(String(id)) ?? names.channels.get(String(id)) ?? String(id);
  return Object.entries(details).flatMap(([name, value]) => {
    const label = texts.details[name];
    if (!label || value === '' || value === false || (Array.isArray(value) && value.length === 0)) return [];
    const text = Array.isArray(value) ? value.map(nameOf).join(', ') : value === true ? texts.yes : nameOf(value);
    return [[label, text] as const];
  });
}
