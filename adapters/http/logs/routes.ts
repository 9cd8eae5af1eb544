/** The routes of the log service; those of alerting stand in `logs/alerts.ts`. */
import type { Route } from '../server/route.js';
import { type LogAdmission, notForProducers } from './admission.js';
import { type HealthDeps, healthRoute } from './health.js';
import { type IngestRouteDeps, ingestRoute } from './ingest.js';
import { type QueryRouteDeps, queryRoutes } from './query.js';
import { type ReindexRouteDeps, reindexRoutes } from './reindex.js';
import { type TailRouteDeps, tailRoute } from './tail.js';

type Without<Deps> = Omit<Deps, 'admit' | 'security'>;

export interface LogsDeps
  extends Without<IngestRouteDeps>,
    Without<QueryRouteDeps>,
    Without<TailRouteDeps>,
    Without<ReindexRouteDeps> {
  readonly admission: LogAdmission;
  readonly health: HealthDeps;
}

export function logsRoutes({ admission, health, ...deps }: LogsDeps): readonly Route[] {
  const { security } = admission;
  const sending = { ...deps, admit: admission.ingest, security };
  const asking = { ...deps, admit: admission.query, security };
  return [
    healthRoute(health),
    ingestRoute(sending),
    ...[...queryRoutes(asking), tailRoute(asking), ...reindexRoutes(asking)].map(notForProducers),
  ];
}
