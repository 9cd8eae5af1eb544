/** The log service under test and its helpers; each test uses records of its own. */
import type { Entry } from '../../../application/logs/query/render-page.js';
import type { LogClient } from '../../support/log-client.js';
import type { Server } from '../../support/server-process.js';

export interface Receipt {
  readonly accepted: number;
  readonly rejected: number;
  readonly queued: boolean;
  readonly producerId: string;
  readonly receivedAt: string;
  readonly errors: readonly { readonly line: number; readonly error: string }[];
  readonly error?: string;
}

export interface Counted {
  readonly groupBy: string;
  readonly groupField?: string;
  readonly buckets: readonly { readonly key: string; readonly count: number }[];
  readonly total: number;
}

export const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Available while a test runs. */
export interface SuiteContext {
  readonly server: Server;
  /** Base URL. */
  readonly base: string;
  readonly client: LogClient;
  /** Distinguishes the records of one test from those of others. */
  readonly run: string;
}

export const messages = (entries: readonly Entry[]) => entries.map(({ message }) => message);

export type LogsUnderTest = ReturnType<typeof logsUnderTest>;

/** `asked` is called per use, as it differs in each test. */
export function logsUnderTest(dataDir: string, context: () => SuiteContext) {
  const mine = (query = '') => `field=run&value=${context().run}${query && `&${query}`}`;
  return {
    dataDir,
    context,
    mine,
    post: (body: string | Uint8Array, type = 'application/x-ndjson', headers = {}) =>
      context().client.ask<Receipt>('POST', '/api/ingest', {
        body,
        headers: { 'content-type': type, ...headers },
      }),
    count: async (query: string) =>
      (await context().client.ask<Counted>('GET', `/api/logs/aggregate?${query}&${mine()}`)).body,
  };
}
