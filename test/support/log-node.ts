/** The log service without its HTTP side: engines, projector, ingest and queries, as a node runs them. */
import { type Servers, silentLogger } from '@annals/engines/testing/engines.js';
import { createGroupCommit } from '../../application/command/group-commit.js';
import { createBudget } from '../../application/concurrency/limiters.js';
import { createIngest, INGEST_BYTES } from '../../application/logs/ingest/ingest-records.js';
import { yieldOnly } from '../../application/logs/query/query-budget.js';
import { search } from '../../application/logs/query/search-blocks.js';
import type { RecordIndex } from '../../application/logs/record-index.js';
import type { RecordText } from '../../domain/logs/batch.js';
import { catalog } from '../../domain/logs/catalog.js';
import type { Filter } from '../../domain/logs/filter.js';
import type { JsonObject } from '../../domain/logs/json.js';
import { type IdentifiedRecord, isAudit } from '../../domain/logs/record.js';
import type { Order } from '../../domain/logs/record-id.js';
import { createReceipts } from '../../projections/logs/index/ingest-receipts.js';
import { createRecordIndex } from '../../projections/logs/index/reader.js';
import { records } from '../../projections/logs/index/records.js';
import { project, startServiceKernel } from './test-kernel.js';

/** All records that match the filter, in order. */
export async function foundIn(index: RecordIndex, filter: Filter, order: Order): Promise<IdentifiedRecord[]> {
  const found: IdentifiedRecord[] = [];
  const hits = search(index, { filter, order, checkpoint: yieldOnly }, Number.POSITIVE_INFINITY);
  for await (const { ref, index: at } of hits)
    await ref.read(async (block) => {
      found.push(block.record(at));
    });
  return found;
}

export type LogsNode = Awaited<ReturnType<typeof startLogsNode>>;

/** Starts a node of the log service with an index of this version. */
export async function startLogsNode(servers: Servers, database: string, model = records) {
  const started = await startServiceKernel({ servers, database, catalog, projections: [model] });
  const { kernel, signal } = started;
  const { log, vault, aggregates, projectionProgress, release, served } = kernel;
  const build = () => served.collection(records.name);
  const appender = createGroupCommit({ log, logger: silentLogger, appended: kernel.appended });
  const receipts = createReceipts(kernel.mongo.models, build);
  const clock = { now: () => Date.now() };
  const budget = createBudget('intake', INGEST_BYTES);
  const { appended } = kernel;
  const ingest = createIngest({
    log,
    appender,
    vault,
    aggregates,
    projectionProgress,
    clock,
    release,
    budget,
    appended,
  });
  const index = createRecordIndex({
    db: kernel.mongo.models,
    vault,
    build,
    version: () => projectionProgress.position(model.name),
  });
  const projector = project(kernel, [model], signal);
  return {
    kernel,
    ingest,
    index,
    receipts,
    projector,
    stop: () => started.stop([projector.stopped]),
  };
}

/** A record as ingest hands it on. */
export function recordText(data: object): RecordText {
  const json = JSON.stringify(data);
  return { json, bytes: Buffer.byteLength(json), audit: isAudit(data as JsonObject) };
}
