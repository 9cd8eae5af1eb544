/** Types of the service's responses that the dashboard uses. */

export interface Site {
  readonly id: string;
  readonly name: string;
  readonly domains: readonly string[];
  readonly allowedEventProperties: readonly string[];
  readonly goals: readonly string[];
  readonly hasIngestToken: boolean;
  readonly snippet: string;
  /** Public link to its reports. */
  readonly shareUrl: string | null;
}

/** Whether the reader gets the weekly mail about a site. */
export interface WeeklyMail {
  readonly subscribed: boolean;
  /** Null for the admin token. */
  readonly email: string | null;
}

export interface Privacy {
  readonly honorDoNotTrack: boolean;
  readonly filterBots: boolean;
  readonly countries: boolean;
  readonly retentionDays: number;
  readonly storeRaw: boolean;
  readonly rawRetentionHours: number;
}

export const METRICS = ['pageviews', 'uniques', 'events'] as const;
export type Metric = (typeof METRICS)[number];
/** `uniques` is null in filtered reports: visitors are not kept by their hits. */
export interface Metrics {
  readonly pageviews: number;
  readonly events: number;
  readonly uniques: number | null;
}

export interface NamedCount {
  readonly name: string;
  readonly count: number;
}

export type ListName =
  | 'pages'
  | 'entryPages'
  | 'events'
  | 'goals'
  | 'referrers'
  | 'campaigns'
  | 'browsers'
  | 'os'
  | 'devices'
  | 'countries'
  | 'properties';

export type FilterName = Exclude<ListName, 'properties' | 'goals'>;

/** Wanted values by list; a campaign is its source, medium and name. */
export type Filters = { readonly [list in FilterName]?: string | readonly string[] };

export interface Trend {
  readonly category: string;
  readonly label: string;
  readonly total: number;
  /** One value per day of the series. */
  readonly values: readonly { readonly count: number }[];
}

export type Day = Metrics & { readonly date: string };

export interface Report {
  /** Name of the site; of shared reports only. */
  readonly name?: string;
  /** ISO 8601. */
  readonly generatedAt: string;
  readonly range: { readonly days: number; readonly start: string; readonly end: string };
  readonly totals: Metrics;
  readonly comparison: {
    /** `complete`: all its days have data. */
    readonly previous: Metrics & { readonly complete: boolean };
    /** Of the last day of the previous period. */
    readonly previousLastDay: Metrics;
    /** Percent; null if the previous period is zero or incomplete. */
    readonly delta: { readonly [metric in Metric]: number | null };
  };
  readonly series: readonly Day[];
  /** The 24 hours of a period of one day, in UTC. */
  readonly hours?: readonly Omit<Metrics, 'uniques'>[];
  readonly pages: readonly NamedCount[];
  readonly entryPages: readonly NamedCount[];
  readonly events: readonly NamedCount[];
  /** `rate`: events per 100 visitors; null if it is not known. */
  readonly goals: readonly (NamedCount & { readonly rate: number | null })[];
  readonly referrers: readonly NamedCount[];
  readonly browsers: readonly NamedCount[];
  readonly os: readonly NamedCount[];
  readonly devices: readonly NamedCount[];
  readonly countries: readonly NamedCount[];
  readonly campaigns: readonly {
    readonly source: string;
    readonly medium: string;
    readonly campaign: string;
    readonly count: number;
  }[];
  readonly properties: readonly {
    readonly event: string;
    readonly property: string;
    readonly value: string | number | boolean;
    readonly count: number;
  }[];
  readonly trends: readonly Trend[];
  /** Of filtered reports: what could not be filtered. */
  readonly notKept?: readonly string[];
  /** Of filtered reports: hits in combinations of values that were too rare to be listed. */
  readonly unlisted?: number;
}

export interface Attempt {
  readonly accepted: boolean;
  readonly reason: string | null;
  readonly host: string | null;
  readonly path: string | null;
  readonly kind: 'pageview' | 'event';
  readonly eventName: string | null;
  readonly timestamp: string;
}

/** Message of the live stream. */
export interface Hit {
  readonly type: 'HIT';
  readonly timestamp: string;
  readonly kind: 'pageview' | 'event';
  readonly path: string;
  readonly event?: string;
  readonly referrer?: string;
  readonly country?: string;
  readonly browser?: string;
}

export interface User {
  /** Null for the admin token. */
  readonly email: string | null;
  readonly role: string;
}

export interface CleanupResult {
  readonly aggregateCutoffDate: string;
  readonly aggregateRowsDeleted: number;
  readonly rawRowsDeleted: number;
}
