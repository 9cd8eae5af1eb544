/** Health route of the log service; public, so it contains no secrets. */
import type { IndexHealth } from '../../../application/logs/health.js';
import type { Reply } from '../server/answer.js';
import { type Route, route } from '../server/route.js';
import { healthBody, unhealthyBody } from './schemas.js';

export interface HealthDeps {
  readonly version: string;
  readonly index: IndexHealth;
  /** By store: `ok`, or the problem. */
  readonly storage: () => Promise<{ readonly [store: string]: string }>;
  /** Sections by name: `ingest`, `auth`, `alerting`, `alertPolicy`; unavailable ones are omitted. */
  readonly sections: () => Promise<{ readonly [section: string]: object }>;
}

const RETRY_AFTER = { 'Retry-After': '5' };

export function healthRoute({ version, index, storage, sections }: HealthDeps): Route {
  const startedAt = Date.now();
  return route({
    method: 'GET',
    path: '/health',
    tags: ['Service'],
    summary: 'Health of the service; 503 when the index is stalled or storage does not answer',
    answers: {
      200: { description: 'Healthy', schema: healthBody },
      503: { description: 'The index is stalled, or storage does not answer', schema: unhealthyBody },
    },
    async handle(): Promise<Reply> {
      const [state, stores, details] = await Promise.all([index.state(), storage(), sections()]);
      const { standsStill, ...indexBody } = state;
      const ok = !standsStill && Object.values(stores).every((store) => store === 'ok');
      const memory = process.memoryUsage();
      return {
        status: ok ? 200 : 503,
        ...(ok ? {} : { headers: RETRY_AFTER }),
        body: {
          ...(ok ? {} : { error: 'The index is stalled, or storage does not answer' }),
          ok,
          service: 'logs',
          version,
          uptimeSec: Math.floor((Date.now() - startedAt) / 1000),
          runtime: {
            node: process.version,
            rssBytes: memory.rss,
            heapUsedBytes: memory.heapUsed,
            externalBytes: memory.external,
          },
          storage: stores,
          ...details,
          index: indexBody,
        },
      };
    },
  });
}
