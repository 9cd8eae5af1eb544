/** The alert policy: what is watched, how often, and where alerts are sent. */
import type { Decider, Rejection } from '../shared/index.js';
import { LIMITS, type NumberSetting } from './alert-policy-limits.js';
import type { LogsEvent } from './catalog.js';

const URL_LENGTH = 2048;

export type AlertPolicy = {
  readonly enabled: boolean;
  /** Null when there is none; alerting is then disabled. */
  readonly webhookUrl: string | null;
} & { readonly [setting in NumberSetting]: number };

export interface ChangeAlertPolicy {
  readonly type: 'ChangeAlertPolicy';
  /** As it came: nothing is known of its keys and values yet. */
  readonly changes: { readonly [key: string]: unknown };
  /** Why the new URL must not be called, if so. */
  readonly refusedTarget?: string;
  /** The request is to be known again: it is noted though it changes nothing. */
  readonly noted?: boolean;
}

export type AlertPolicyChanged = LogsEvent<'AlertPolicyChanged'>;

const initialState: AlertPolicy = {
  enabled: false,
  webhookUrl: null,
  ...(Object.fromEntries(Object.entries(LIMITS).map(([key, { initial }]) => [key, initial])) as {
    [setting in NumberSetting]: number;
  }),
};

export const alertPolicy: Decider<AlertPolicy, ChangeAlertPolicy, AlertPolicyChanged> = {
  initialState,
  decide({ changes, refusedTarget, noted = false }, state) {
    for (const [key, value] of Object.entries(changes)) {
      const complaint = complain(key, value);
      if (complaint) return invalid(complaint);
    }
    const asked = normalised(changes);
    if (asked.webhookUrl && refusedTarget) return invalid(`webhookUrl is refused: ${refusedTarget}`);
    const next = { ...state, ...asked };
    if (asked.enabled && next.webhookUrl === null) return invalid('enabled needs a webhookUrl');
    return changed(state, { ...next, enabled: next.enabled && next.webhookUrl !== null }, noted);
  },
  evolve: {
    AlertPolicyChanged(state, { settings, secret }) {
      const next = { ...state, ...settings, ...secret };
      return { ...next, enabled: next.enabled && next.webhookUrl !== null };
    },
  },
};

function changed(from: AlertPolicy, to: AlertPolicy, noted: boolean): readonly AlertPolicyChanged[] {
  const keys = (Object.keys(from) as (keyof AlertPolicy)[]).filter((key) => from[key] !== to[key]);
  if (keys.length === 0 && !noted) return [];
  const { webhookUrl, ...settings } = to;
  return [{ type: 'AlertPolicyChanged', data: { settings, secret: { webhookUrl }, whole: true } }];
}

/** Values that `complain` had nothing against; an empty URL is none. */
function normalised(changes: ChangeAlertPolicy['changes']): Partial<AlertPolicy> {
  const { webhookUrl, ...rest } = changes as Partial<AlertPolicy>;
  return webhookUrl === undefined ? rest : { ...rest, webhookUrl: webhookUrl?.trim() || null };
}

function complain(key: string, value: unknown): string | undefined {
  if (key === 'enabled') return typeof value === 'boolean' ? undefined : 'enabled must be true or false';
  if (key === 'webhookUrl') return complainOfUrl(value);
  if (!isNumberSetting(key)) return `${key.slice(0, 100)} is not a setting of the alert policy`;
  const { min, max } = LIMITS[key];
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return undefined;
  return `${key} must be a whole number from ${min} to ${max}`;
}

function complainOfUrl(value: unknown): string | undefined {
  if (value === null) return undefined;
  if (typeof value !== 'string') return 'webhookUrl must be a URL or null';
  if (value.trim() === '') return undefined;
  if (value.length > URL_LENGTH) return `webhookUrl must be at most ${URL_LENGTH} characters`;
  return /^\s*https?:\/\/[^\s/?#]/i.test(value) ? undefined : 'webhookUrl must be an http or https URL';
}

const isNumberSetting = (key: string): key is NumberSetting => Object.hasOwn(LIMITS, key);

const invalid = (detail: string): Rejection => ({
  rejected: 'logs/invalid-alert-policy',
  kind: 'invalid',
  detail,
});
