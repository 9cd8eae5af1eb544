/** What runs in the thread that searches the index of the log service. */
import { platform, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { connectMongo } from '../../../adapters/mongo/client.js';
import { createPeer } from '../../../adapters/platform/process/worker-rpc.js';
import { STORE_CALL_MS } from '../../../application/concurrency/index.js';
import type { CountAsked, PageAsked } from '../../../application/logs/ports.js';
import { createSearcher } from '../../../application/logs/query/searcher.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { createVault, treatAsErased } from '../../../application/secrets/index.js';
import { assertBuildExists } from '../../../projections/kernel/index.js';
import { createRecordIndex } from '../../../projections/logs/index/reader.js';
import type { CacheUse, SearcherData, Serving } from './searching.js';

/** Keys are for the question at hand: this thread does not hear which of them are destroyed. */
const KEYS_KEPT_MS = 1000;
/**
 * Whoever serves people comes first where processors are few: this gets a third of what they get, lest it starve.
 * Beyond Linux it would hold for the whole process.
 */
const NICENESS = 5;

if (platform() === 'linux') setPriority(NICENESS);
const { url, database, budgetMs } = workerData as SearcherData;
// It begins with the first question, which waits for no silent store longer than any other: it dies, and is begun anew.
const { models } = await connectMongo(url, database, STORE_CALL_MS);
let serving: Serving = { build: undefined, version: undefined };

const given = async (key: Uint8Array | 'destroyed' | undefined) => (key instanceof Uint8Array ? Buffer.from(key) : key);
const refused = () => Promise.reject(new Error('keys are only read here'));
const vault = createVault(
  {
    create: refused,
    renew: refused,
    destroy: refused,
    read: (subject) => main.call<Uint8Array | 'destroyed' | undefined>('key', [subject]).then(given),
  },
  aes256gcm,
  KEYS_KEPT_MS,
);
const index = createRecordIndex({
  db: models,
  vault: treatAsErased(vault, ({ subject, sealed }) => void main.call('unopened', [subject, sealed])),
  build: () => serving.build,
  version: () => serving.version,
});
const searcher = createSearcher({ index, clock: Date, budgetMs });

async function answered<T>(now: Serving, work: () => Promise<T>): Promise<T> {
  serving = now;
  try {
    const answer = await work();
    await assertBuildExists(models, now.build);
    return answer;
  } finally {
    const held = index.caches.map(({ name, limitBytes, bytes }): CacheUse => ({ name, limitBytes, held: bytes() }));
    void main.call('held', [held]);
  }
}

const main = createPeer(
  parentPort!,
  {
    page: (signal, now: Serving, asked: PageAsked) => answered(now, () => searcher.page(asked, signal)),
    aggregate: (signal, now: Serving, asked: CountAsked, paced: boolean) =>
      answered(now, () => searcher.aggregate(asked, paced ? signal : undefined)),
    lastReceived: (_, now: Serving) => answered(now, searcher.lastReceived),
  },
  [UnavailableError],
);
