/** The routes of the log service; those of alerting stand in `logs/alerts.ts`. */

import { type LogAdmission, notForProducers } from './logs/admission.js';
import { type HealthDeps, healthRoute } from './logs/health.js';
import { type IngestRouteDeps, ingestRoute } from './logs/ingest.js';
import { type QueryRouteDeps, queryRoutes } from './logs/query.js';
import { type ReindexRouteDeps, reindexRoutes } from './logs/reindex.js';
import { type TailRouteDeps, tailRoute } from './logs/tail.js';
import type { Route } from './route.js';

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
