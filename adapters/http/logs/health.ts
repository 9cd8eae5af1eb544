/** The health of the log service (answers-logs, Reindex, health, docs): public, so it tells no secret. */
import type { IndexHealth } from '../../../application/logs/health.js';
import type { Reply, Route } from '../route.js';
import { healthBody } from './schemas.js';

export interface HealthDeps {
  readonly version: string;
  readonly index: IndexHealth;
  /** Sections by name: `storage`, `ingest`, `auth`, `alerting`, `alertPolicy`. */
  readonly sections: () => Promise<{ readonly [section: string]: object }>;
}

export function healthRoute({ version, index, sections }: HealthDeps): Route {
  const startedAt = Date.now();
  return {
    method: 'GET',
    path: '/health',
    tags: ['Service'],
    summary: 'Health of the service; 503 when the index stands still',
    answers: {
      200: { description: 'Well', schema: healthBody },
      503: { description: 'The index stands still, or storage does not answer', schema: healthBody },
    },
    async handle(): Promise<Reply> {
      const [state, more] = await Promise.all([index.state(), sections()]);
      const { standsStill, ...shown } = state;
      const ok = !standsStill;
      const memory = process.memoryUsage();
      return {
        status: ok ? 200 : 503,
        body: {
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
          ...more,
          index: shown,
        },
      };
    },
  };
}
