/** The alert policy: what is watched, how often, and where alerts are sent. */
import type { Decider, DomainEvent, Rejection } from '../shared/decider.js';

/** The whole numbers of the policy, with what they begin with and how far they may go. */
export const LIMITS = {
  intervalMs: { initial: 30_000, min: 1000, max: 86_400_000 },
  windowMinutes: { initial: 5, min: 1, max: 43_200 },
  errorThreshold: { initial: 20, min: 1, max: 1_000_000_000 },
  /** 0 turns the rule off. */
  noLogsThresholdMinutes: { initial: 0, min: 0, max: 43_200 },
  cooldownMs: { initial: 300_000, min: 0, max: 2_592_000_000 },
  webhookTimeoutMs: { initial: 5000, min: 10, max: 60_000 },
  webhookRetryAttempts: { initial: 3, min: 0, max: 10 },
  webhookBackoffMs: { initial: 250, min: 0, max: 60_000 },
} as const;

const URL_LENGTH = 2048;

type NumberSetting = keyof typeof LIMITS;

export type AlertPolicy = {
  readonly enabled: boolean;
  /** Null when there is none; alerting is then disabled. */
  readonly webhookUrl: string | null;
} & { readonly [setting in NumberSetting]: number };

type Settings = Partial<Omit<AlertPolicy, 'webhookUrl'>>;

export interface ChangeAlertPolicy {
  readonly type: 'ChangeAlertPolicy';
  /** As it came: nothing is known of its keys and values yet. */
  readonly changes: { readonly [key: string]: unknown };
  /** Why the new URL must not be called, if so. */
  readonly refusedTarget?: string;
  /** The request is to be known again: it is noted though it changes nothing. */
  readonly noted?: boolean;
}

/** Holds what changed and nothing else. A URL is a secret: who has it can post to its owner. */
export type AlertPolicyChanged = DomainEvent<
  'AlertPolicyChanged',
  { readonly settings: Settings; readonly secret: { readonly webhookUrl?: string | null } }
>;

export const POLICY_STREAM = 'logs.policy-main';

const initialState: AlertPolicy = {
  enabled: false,
  webhookUrl: null,
  ...(Object.fromEntries(Object.entries(LIMITS).map(([key, { initial }]) => [key, initial])) as {
    [setting in NumberSetting]: number;
  }),
};

export const policy: Decider<AlertPolicy, ChangeAlertPolicy, AlertPolicyChanged> = {
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
  evolve(state, { data: { settings, secret } }) {
    const next = { ...state, ...settings, ...secret };
    return { ...next, enabled: next.enabled && next.webhookUrl !== null };
  },
};

function changed(from: AlertPolicy, to: AlertPolicy, noted: boolean): readonly AlertPolicyChanged[] {
  const keys = (Object.keys(from) as (keyof AlertPolicy)[]).filter((key) => from[key] !== to[key]);
  if (keys.length === 0 && !noted) return [];
  const { webhookUrl, ...settings } = Object.fromEntries(keys.map((key) => [key, to[key]]));
  const secret = webhookUrl === undefined ? {} : { webhookUrl: to.webhookUrl };
  return [{ type: 'AlertPolicyChanged', data: { settings, secret } }];
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
