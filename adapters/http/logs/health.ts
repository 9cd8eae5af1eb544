/** The health of the log service: public, so it tells no secret. */
import type { IndexHealth } from '../../../application/logs/health.js';
import type { Reply } from '../server/answer.js';
import { type Route, route } from '../server/route.js';
import { healthBody, unhealthyBody } from './schemas.js';

export interface HealthDeps {
  readonly version: string;
  readonly index: IndexHealth;
  /** By store: `ok`, or why not. */
  readonly storage: () => Promise<{ readonly [store: string]: string }>;
  /** Sections by name: `ingest`, `auth`, `alerting`, `alertPolicy`; one that can't be told now is left out. */
  readonly sections: () => Promise<{ readonly [section: string]: object }>;
}

/** When to ask again, seconds. */
const AGAIN = { 'Retry-After': '5' };

export function healthRoute({ version, index, storage, sections }: HealthDeps): Route {
  const startedAt = Date.now();
  return route({
    method: 'GET',
    path: '/health',
    tags: ['Service'],
    summary: 'Health of the service; 503 when the index stands still or storage does not answer',
    answers: {
      200: { description: 'Well', schema: healthBody },
      503: { description: 'The index stands still, or storage does not answer', schema: unhealthyBody },
    },
    async handle(): Promise<Reply> {
      const [state, stores, more] = await Promise.all([index.state(), storage(), sections()]);
      const { standsStill, ...shown } = state;
      const ok = !standsStill && Object.values(stores).every((store) => store === 'ok');
      const memory = process.memoryUsage();
      return {
        status: ok ? 200 : 503,
        ...(ok ? {} : { headers: AGAIN }),
        body: {
          ...(ok ? {} : { error: 'The index stands still, or storage does not answer' }),
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
          ...more,
          index: shown,
        },
      };
    },
  });
}
