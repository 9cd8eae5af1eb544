/** Composes the log service. */
import { resolve } from 'node:path';
import { createFileScanner, machineHash, readNextLines, writerOf } from '../../adapters/filesystem/tail-file.js';
import { createLogAdmission, withProducerRejection } from '../../adapters/http/logs/admission.js';
import { alertRoutes } from '../../adapters/http/logs/alerts.js';
import { healthRoute } from '../../adapters/http/logs/health.js';
import { ingestRoute } from '../../adapters/http/logs/ingest.js';
import { logsPolicy } from '../../adapters/http/logs/policy.js';
import { queryRoutes } from '../../adapters/http/logs/query.js';
import { reindexRoutes } from '../../adapters/http/logs/reindex.js';
import { documentRoutes } from '../../adapters/http/server/api-docs.js';
import { stateAtRoute } from '../../adapters/http/server/state-at-route.js';
import { pageRoutes } from '../../adapters/http/server/web-page.js';
import { publicUrl } from '../../adapters/platform/process/format-url.js';
import { createTail } from '../../adapters/realtime/logs/log-tail.js';
import { createStateAt, describeKinds } from '../../application/audit/index.js';
import { createGroupCommit } from '../../application/command/index.js';
import { createBudget, HEALTH_MS, withDeadline } from '../../application/concurrency/index.js';
import { createCaughtUpBarrier } from '../../application/consistency/index.js';
import { createReindex } from '../../application/logs/admin/reindex.js';
import { logsThings } from '../../application/logs/alerts/past-states.js';
import { createIndexHealth, storageHealth } from '../../application/logs/health.js';
import { decryptRecords } from '../../application/logs/ingest/decrypt-batch.js';
import { createIngest, INGEST_BYTES } from '../../application/logs/ingest/ingest-records.js';
import { createFileTailer, SCAN_INTERVAL_MS } from '../../application/logs/ingest/tail-files.js';
import { createLogQueries } from '../../application/logs/query/query-service.js';
import { createRetention, eraseReaction } from '../../application/logs/retention/expire-records.js';
import { isLoopback } from '../../application/logs/settings.js';
import { RETENTION_EVERY_MS } from '../../application/subscription/index.js';
import { rebuildsOf } from '../../projections/kernel/index.js';
import { createReceipts } from '../../projections/logs/index/ingest-receipts.js';
import { records } from '../../projections/logs/index/records.js';
import type { Service } from '../node/service.js';
import { logs as definition } from './definitions/logs.js';
import { connectAlerting } from './logs/alerting.js';
import { startSearcher } from './logs/searching.js';

export const logs: Service<typeof definition.catalog> = {
  ...definition,
  port: (values) => values['logs.port'],
  connect({ kernel, values, release, metrics, logger, signal, horizon, url }) {
    const { log, vault, projectionProgress, served, handle, mongo, clock } = kernel;
    const closing = new AbortController();
    const build = served.collectionOf(records.name);
    const version = () => projectionProgress.position(records.name);
    const receipts = createReceipts(mongo.models, build);
    const appender = createGroupCommit({ log, logger, appended: kernel.appended });
    const budgetMs = values['logs.queryTimeoutMs'];
    const searcher = startSearcher({
      kernel,
      serving: () => ({ build: build(), version: version() }),
      budgetMs,
      onCache: metrics.cache,
      logger,
    });
    // Aborted after all connections have ended, so no query is pending.
    signal.addEventListener('abort', () => void searcher.close(), { once: true });
    const health = createIndexHealth({ projectionProgress, clock });
    const budget = createBudget('logs.intake', INGEST_BYTES);
    metrics.budget(budget);
    const ingest = createIngest({ ...kernel, appender, release, budget });
    const { latest } = ingest;
    const queries = createLogQueries({ searcher, budgetMs, version, projectionProgress, latest });
    for (const cache of queries.caches) metrics.cache(cache);
    const tail = createTail({
      recordsOf: (event) => decryptRecords(vault, event),
      from: horizon,
      head: kernel.head,
      observe: metrics.relay('logs'),
      failed: (err) => logger.error({ err }, 'the live tail could not read a batch and waits'),
    });
    const admission = createLogAdmission({
      apiToken: values['logs.apiToken'],
      username: values['logs.basic.username'],
      password: values['logs.basic.password'],
      producers: values['logs.producers'] as readonly { id: string; token: string }[],
    });
    const alerting = connectAlerting({
      kernel,
      counts: queries,
      logger,
      release,
      signal,
      allowPrivateWebhooks: values['logs.allowPrivateWebhooks'] ?? isLoopback(values.host),
      webhookSecret: values['logs.webhookSecret'],
      serviceUrl: publicUrl(values['logs.appUrl'], url),
    });
    const storage = storageHealth({ eventStore: kernel.head, mongo: mongo.ping });
    const sections = async () => ({
      ingest: ingest.totals(),
      auth: admission.mode,
      ...(await withDeadline(HEALTH_MS, alerting.alerts.health(), 'alerting').catch(() => ({}))),
      tail: { streams: tail.streams() },
    });
    const auth = { admit: admission.query, security: admission.security };
    const rebuilds = rebuildsOf(records, kernel, closing.signal);
    const reindex = createReindex({
      ...kernel,
      ...rebuilds,
      count: queries.count,
      context: kernel.systemContext,
    });
    const pastStates = stateAtRoute({
      ...auth,
      path: '/api/at',
      tags: ['Alerts'],
      things: describeKinds(logsThings),
      stateAt: createStateAt(kernel, logsThings),
    });
    const routes = [
      healthRoute({ version: release, index: health, storage, sections }),
      ingestRoute({ ...auth, ingest, admit: admission.ingest }),
      ...[...queryRoutes({ ...auth, queries, tail }), ...reindexRoutes({ ...auth, reindex }), pastStates].map(
        withProducerRejection,
      ),
      ...alertRoutes({ ...alerting, ...auth }),
      ...pageRoutes('logs', 'The log explorer'),
    ];
    const policy = logsPolicy(release, {
      open: !admission.mode.required,
      password: admission.mode.basic,
      host: values.host,
      appUrl: values['logs.appUrl'],
      origins: values['logs.allowedOrigins'],
    });
    const directories = values['logs.watch'].map((each) => resolve(each));
    const watch = createFileTailer({
      directories,
      filesIn: createFileScanner(),
      nextPiece: readNextLines,
      producerOf: writerOf,
      ingest,
      offset: receipts.offset,
      caughtUp: createCaughtUpBarrier(records.name, { ...kernel, build }),
      context: kernel.systemContext,
      logger,
    });
    const retention = createRetention({
      handle,
      clock,
      days: values['logs.retentionDays'],
      auditDays: values['logs.auditRetentionDays'],
      receivedBefore: receipts.receivedBefore,
      context: kernel.systemContext,
    });
    return {
      policy,
      signIn: admission.signIn,
      routes: [...routes, ...documentRoutes(policy, routes)],
      handlers: [tail.publish, health.onEvent, alerting.onEvent],
      reactions: [eraseReaction({ vault, log, requestStreams: receipts.requestStreams }), alerting.reaction],
      periodic: [
        alerting.periodic,
        { name: 'logs.retention', everyMs: RETENTION_EVERY_MS, run: retention, mayRun: clock.inSync },
        ...(directories.length > 0
          ? [{ name: `logs.watch-${machineHash(directories)}`, everyMs: SCAN_INTERVAL_MS, run: watch }]
          : []),
      ],
      bufferedBytes: tail.bufferedBytes,
      close() {
        closing.abort();
        tail.close();
      },
    };
  },
};
