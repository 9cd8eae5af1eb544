/** What the operations port answers; positions have 64 bits and are texts. */

export interface Health {
  readonly ok: boolean;
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail?: string }[];
}

export interface NodeDescription {
  readonly node: string;
  readonly release: string;
  readonly uptimeSec: number;
  readonly services: readonly { readonly name: string; readonly url: string }[];
  readonly nodes: readonly string[];
  readonly stores: string;
  readonly engines: readonly { readonly name: string; readonly memory?: number; readonly disk?: number }[];
  readonly disk?: { readonly free: number; readonly size: number };
  readonly eventTypes: { readonly [service: string]: readonly string[] };
}

export interface Slice {
  readonly at: string;
  readonly requests: number;
  readonly failures: number;
  readonly events: number;
  readonly p95?: number;
}

export interface Activity {
  readonly sliceMs: number;
  readonly slices: readonly Slice[];
}

export interface ReadModel {
  readonly name: string;
  readonly version: number;
  readonly collection: string;
  readonly status: string;
  readonly owner?: string;
  readonly position?: string;
  readonly lag?: string;
}

export type ReindexKind = 'rebuild' | 'check';

export interface ReindexRun {
  readonly projection: string;
  readonly kind: ReindexKind;
  readonly state: 'running' | 'done' | 'failed';
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly events: number;
  readonly position?: string;
  readonly until?: string;
  readonly differences?: number;
  readonly error?: string;
}

export interface RecentError {
  readonly time: string;
  readonly level: 'warn' | 'error';
  readonly message: string;
  readonly error?: string;
}

export interface Lease {
  readonly name: string;
  readonly owner: string;
}

export interface EventHeader {
  readonly position: string;
  readonly stream: string;
  readonly revision: string;
  readonly id: string;
  /** For example `chat.MessagePosted.v1`. */
  readonly type: string;
  readonly recordedAt: string;
  readonly actor?: string;
  readonly correlationId?: string;
}

export interface EventPage {
  readonly events: readonly EventHeader[];
  readonly scanned: number;
  readonly next?: string;
}

export interface RelatedEvents {
  readonly correlationId?: string;
  readonly events: readonly (EventHeader & { readonly depth: number })[];
  readonly scanned: number;
  readonly complete: boolean;
}
