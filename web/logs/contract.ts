/** Types of the log service's API, as its contract has them. */

export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonRecord;
export interface JsonRecord {
  readonly [name: string]: JsonValue;
}

/** A record. */
export interface Entry {
  /** Follows from its place in the log. */
  readonly id: string;
  readonly timestamp: string;
  /** Upper case. */
  readonly level: string;
  readonly event: string | null;
  readonly message: string;
  readonly producerId: string;
  readonly correlationId: string | null;
  readonly data: JsonRecord;
}

export interface Page {
  readonly entries: readonly Entry[];
  readonly hasMore: boolean;
  readonly limit: number;
  readonly nextCursor?: string;
}

export interface Bucket {
  readonly key: string;
  readonly count: number;
}

export interface Counts {
  /** Highest count first. */
  readonly buckets: readonly Bucket[];
  readonly total: number;
}

export type Order = 'desc' | 'asc';

export interface Health {
  readonly auth?: { readonly required: boolean; readonly bearer: boolean; readonly basic: boolean };
}

export interface AlertPolicy {
  readonly enabled: boolean;
  readonly webhookUrl: string | null;
  readonly intervalMs: number;
  readonly windowMinutes: number;
  readonly errorThreshold: number;
  /** 0: the rule is off. */
  readonly noLogsThresholdMinutes: number;
  readonly cooldownMs: number;
  readonly webhookTimeoutMs: number;
  readonly webhookRetryAttempts: number;
  readonly webhookBackoffMs: number;
}

export interface Alert {
  readonly id: string;
  readonly rule: 'error_threshold' | 'no_logs';
  readonly severity: 'critical' | 'warning';
  readonly state: 'active' | 'repeated' | 'resolved';
  readonly triggeredAt: string;
  readonly resolvedAt: string | null;
  readonly resolution?: 'recovered' | 'disabled';
  readonly details: { readonly [name: string]: unknown };
  readonly webhook: {
    readonly delivered: boolean;
    readonly attempts: number;
    readonly at?: string;
    readonly status?: number;
    readonly reason?: string;
  };
}

export interface AlertPage {
  readonly alerts: readonly Alert[];
  readonly hasMore: boolean;
  readonly nextCursor?: string;
}

export interface WebhookTest {
  readonly ok: true;
  readonly targetUrl: string;
  readonly status: number;
  readonly attempts: number;
}
