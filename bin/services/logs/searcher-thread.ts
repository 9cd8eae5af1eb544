/** Entry point of the worker thread that searches the index of the log service. */
import { platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { createRpcPeer } from '../../../adapters/platform/process/worker-rpc.js';
import { STORE_CALL_MS } from '../../../application/concurrency/index.js';
import type { PageRequest } from '../../../application/logs/query/render-page.js';
import { type CountRequest, createSearcher } from '../../../application/logs/query/searcher.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { createVault, treatAsErased } from '../../../application/secrets/index.js';
import { createRecordIndex } from '../../../projections/logs/index/reader.js';
import type { CacheUsage, SearcherData, Serving } from './searching.js';

/** How long keys are cached. Short, because this thread is not notified when a key is destroyed. */
const KEY_TTL_MS = 1000;
/**
 * Lowers the priority to about a third of the main thread's CPU time when cores are scarce.
 * Linux only: elsewhere it would apply to the whole process.
 */
const NICENESS = 5;

/** The use of caches is reported this long after a query: a message for each would cost as much as some queries. */
const REPORT_MS = 500;

if (platform() === 'linux') setPriority(NICENESS);
const { url, database, budgetMs } = workerData as SearcherData;
// The thread starts with the first query. If MongoDB does not answer in time, the thread fails and is restarted.
const { models } = await connectMongo(url, database, STORE_CALL_MS);
let serving: Serving = { build: undefined, version: undefined };

const toBuffer = async (key: Uint8Array | 'destroyed' | undefined) =>
  key instanceof Uint8Array ? Buffer.from(key) : key;
const rejectWrite = () => Promise.reject(new Error('this thread can only read keys'));
const vault = createVault(
  {
    create: rejectWrite,
    renew: rejectWrite,
    destroy: rejectWrite,
    read: (subject) => main.call<Uint8Array | 'destroyed' | undefined>('key', [subject]).then(toBuffer),
  },
  aes256gcm,
  KEY_TTL_MS,
);
const index = createRecordIndex({
  db: models,
  vault: treatAsErased(vault, ({ subject, sealed }) => void main.call('undecryptable', [subject, sealed])),
  build: () => serving.build,
  version: () => serving.version,
});
const searcher = createSearcher({ index, clock: Date, budgetMs });

let isReportDue = false;

function reportCaches() {
  isReportDue = false;
  const usage = index.caches.map(
    ({ name, limitBytes, bytes }): CacheUsage => ({ name, limitBytes, usedBytes: bytes() }),
  );
  void main.call('cacheUsage', [usage]);
}

function serve<T>(view: Serving, query: () => Promise<T>): Promise<T> {
  serving = view;
  if (!isReportDue) setTimeout(reportCaches, REPORT_MS).unref();
  isReportDue = true;
  return query();
}

const main = createRpcPeer(
  parentPort!,
  {
    page: (signal, view: Serving, query: PageRequest) => serve(view, () => searcher.page(query, signal)),
    aggregate: (signal, view: Serving, query: CountRequest, isAbortable: boolean) =>
      serve(view, () => searcher.aggregate(query, isAbortable ? signal : undefined)),
    lastReceived: (_, view: Serving) => serve(view, searcher.lastReceived),
  },
  [UnavailableError],
);
