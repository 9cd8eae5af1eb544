/** The alert policy: rules, evaluation interval and webhook. */
import type { Decider, Rejection } from '../shared/index.js';
import { LIMITS, type NumberSetting } from './alert-events.js';
import type { LogsEvent } from './catalog.js';

const URL_LENGTH = 2048;

export type AlertPolicy = {
  readonly enabled: boolean;
  /** Null disables alerting. */
  readonly webhookUrl: string | null;
} & { readonly [setting in NumberSetting]: number };

export interface ChangeAlertPolicy {
  readonly type: 'ChangeAlertPolicy';
  /** Unvalidated input. */
  readonly changes: { readonly [key: string]: unknown };
  /** Why the new URL is not allowed, if so. */
  readonly refusedTarget?: string;
  /** Records an event even without changes, so that a repetition of the request is recognised. */
  readonly alwaysRecord?: boolean;
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
  decide({ changes, refusedTarget, alwaysRecord = false }, state) {
    for (const [key, value] of Object.entries(changes)) {
      const problem = validate(key, value);
      if (problem) return invalid(problem);
    }
    const settings = normalize(changes);
    if (settings.webhookUrl && refusedTarget) return invalid(`webhookUrl is not allowed: ${refusedTarget}`);
    const next = { ...state, ...settings };
    if (settings.enabled && next.webhookUrl === null) return invalid('enabled needs a webhookUrl');
    return changed(state, { ...next, enabled: next.enabled && next.webhookUrl !== null }, alwaysRecord);
  },
  evolve: {
    AlertPolicyChanged(state, { settings, secret }) {
      const next = { ...state, ...settings, ...secret };
      return { ...next, enabled: next.enabled && next.webhookUrl !== null };
    },
  },
};

function changed(from: AlertPolicy, to: AlertPolicy, alwaysRecord: boolean): readonly AlertPolicyChanged[] {
  const keys = (Object.keys(from) as (keyof AlertPolicy)[]).filter((key) => from[key] !== to[key]);
  if (keys.length === 0 && !alwaysRecord) return [];
  const { webhookUrl, ...settings } = to;
  return [{ type: 'AlertPolicyChanged', data: { settings, secret: { webhookUrl } } }];
}

function normalize(changes: ChangeAlertPolicy['changes']): Partial<AlertPolicy> {
  const { webhookUrl, ...rest } = changes as Partial<AlertPolicy>;
  return webhookUrl === undefined ? rest : { ...rest, webhookUrl: webhookUrl?.trim() || null };
}

function validate(key: string, value: unknown): string | undefined {
  if (key === 'enabled') return typeof value === 'boolean' ? undefined : 'enabled must be true or false';
  if (key === 'webhookUrl') return validateUrl(value);
  if (!isNumberSetting(key)) return `${key.slice(0, 100)} is not a setting of the alert policy`;
  const { min, max } = LIMITS[key];
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return undefined;
  return `${key} must be a whole number from ${min} to ${max}`;
}

function validateUrl(value: unknown): string | undefined {
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
