/** All routes of the log service except those of alerting. */
import type { Route } from '../server/route.js';
import { type createLogAdmission, withProducerRejection } from './admission.js';
import { type HealthDeps, healthRoute } from './health.js';
import { type IngestRouteDeps, ingestRoute } from './ingest.js';
import { type QueryRouteDeps, queryRoutes } from './query.js';
import { type ReindexRouteDeps, reindexRoutes } from './reindex.js';

type Without<Deps> = Omit<Deps, 'admit' | 'security'>;

export interface LogsDeps extends Without<IngestRouteDeps>, Without<QueryRouteDeps>, Without<ReindexRouteDeps> {
  readonly admission: ReturnType<typeof createLogAdmission>;
  readonly health: HealthDeps;
}

export function logsRoutes({ admission, health, ...deps }: LogsDeps): readonly Route[] {
  const { security } = admission;
  const ingestDeps = { ...deps, admit: admission.ingest, security };
  const queryDeps = { ...deps, admit: admission.query, security };
  return [
    healthRoute(health),
    ingestRoute(ingestDeps),
    ...[...queryRoutes(queryDeps), ...reindexRoutes(queryDeps)].map(withProducerRejection),
  ];
}
