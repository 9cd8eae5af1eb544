/** The analytics service on nodes in the process of the test, over servers of their own, with what they wrote. */
import { randomUUID } from 'node:crypto';
import { type Servers, startServers } from '@annals/engines/testing/engines.js';
import { asEvent } from '../../application/command/event-envelope.js';
import type { RevealedEvent } from '../../application/ports/index.js';
import { analytics } from '../../bin/services/analytics.js';
import { catalog } from '../../domain/analytics/catalog.js';
import type { HitsCollected } from '../../domain/analytics/hit.js';
import { ask, type HttpSpec, httpSpec, type RequestOptions } from './http-spec.js';
import { type RunningNode, startNode } from './node.js';
import { type ServiceKernel, startServiceKernel } from './test-kernel.js';

export const ADMIN = 'an-admin-token-for-tests';
export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';
export const SAFARI =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ' +
  'Version/18.0 Mobile/15E148 Safari/604.1';

export interface AnalyticsNodes extends HttpSpec {
  /** URLs of the nodes. */
  readonly bases: readonly string[];
  /** Creates a site with a new id for `example.com`; resolves to its id. */
  site(more?: object): Promise<string>;
  /** Sends a payload, or several, from a page of `example.com`; resolves to the body of the answer. */
  collect(payload: unknown, headers?: { readonly [name: string]: string }, at?: number): Promise<Verdict>;
  /** Decrypted hit events of a site, in log order. */
  written(siteId: string): Promise<readonly RevealedEvent<HitsCollected>[]>;
  /** A kernel on the same stores, as of another process. */
  readonly observer: ServiceKernel;
  /** Flags that give a command the addresses of the same stores. */
  readonly storeFlags: readonly string[];
}

export interface Verdict {
  readonly accepted?: boolean;
  readonly reason?: string;
  readonly error?: string;
  readonly results?: readonly Verdict[];
}

type Flags = { readonly [flag: string]: string };

export const asAdmin = (options: RequestOptions = {}): RequestOptions => ({ token: ADMIN, ...options });

/** To be called within `describe`: for all of its tests. `flags` are the settings of every node. */
export function useAnalytics(flags: Flags = {}, count = 1): AnalyticsNodes {
  let servers: Servers;
  let observer: ServiceKernel;
  const running: RunningNode[] = [];
  const database = `test_${randomUUID().slice(0, 8)}`;
  before(async () => {
    servers = await startServers();
    const all = {
      '--analytics-port': '0',
      '--analytics-admin-token': ADMIN,
      '--mongo-database': database,
      ...flags,
    };
    for (let n = 0; n < count; n++) running.push(await startNode([analytics], { servers, flags: all }));
    observer = await startServiceKernel({ servers, database, catalog, projections: [] });
  });
  after(async () => {
    await observer?.stop([]);
    for (const node of running) await node.stop();
    await servers?.stop();
  });
  const base = (at = 0) => running[at]?.url('analytics') ?? '';
  const spec = httpSpec(base);
  return {
    ...spec,
    get bases() {
      return running.map((node) => node.url('analytics'));
    },
    get observer() {
      return observer;
    },
    get storeFlags() {
      const { eventStoreUrl, mongoUrl } = servers;
      return ['--event-store-url', eventStoreUrl, '--mongo-url', mongoUrl, '--mongo-database', database];
    },
    async site(more = {}) {
      const id = `s-${randomUUID()}`;
      const body = { id, domains: ['example.com'], ...more };
      await spec.given('POST', '/api/sites', asAdmin({ body }));
      return id;
    },
    async collect(payload, headers = {}, at = 0) {
      const of = { origin: 'https://example.com', 'user-agent': FIREFOX, ...headers };
      const given = Object.fromEntries(Object.entries(of).filter(([, value]) => value !== ''));
      const { status, body } = await ask(base(at), 'POST', '/api/collect', { body: payload, headers: given });
      if (status !== 202) throw new Error(`${status} ${JSON.stringify(body)}`);
      return body;
    },
    async written(siteId) {
      const { follow, decryptEvent } = observer.kernel;
      const found: RevealedEvent<HitsCollected>[] = [];
      const selection = { service: 'analytics', types: ['HitsCollected'], from: 'start' as const };
      for await (const { events, caughtUp } of follow({ ...selection, signal: observer.signal })) {
        for (const event of events) {
          const opened = await decryptEvent(catalog, asEvent<HitsCollected>(event));
          if (opened.data.siteId === siteId) found.push(opened);
        }
        if (caughtUp) break;
      }
      return found;
    },
  };
}
