/** A node that does alerting and nothing else, over HTTP; the counts of records are the test's. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { startEventStoreEngine } from '@annals/engines/internal/eventstore/engine.js';
import { startMongoEngine } from '@annals/engines/internal/mongo/engine.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { type Servers, silentLogger, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { alertRoutes } from '../../../../adapters/http/logs/alerts.js';
import { listen } from '../../../../adapters/http/server/http-server.js';
import { sameOrigin } from '../../../../adapters/http/server/policy.js';
import type { RecordCounts } from '../../../../application/logs/alerts/evaluate.js';
import { runPeriodically } from '../../../../application/subscription/leader-election.js';
import { type Reaction, runReaction } from '../../../../application/subscription/reaction-runner.js';
import type { Kernel } from '../../../../bin/node/kernel.js';
import { connectAlerting } from '../../../../bin/services/logs/alerting.js';
import { alertEvents } from '../../../../domain/logs/alert-events.js';
import type { AlertPolicy } from '../../../../domain/logs/alert-policy.js';
import type { LogsEvent } from '../../../../domain/logs/catalog.js';
import { alertHistory } from '../../../../projections/logs/alerts.js';
import { project, startServiceKernel } from '../../../support/test-kernel.js';
import { type Receiver, startReceiver } from '../../../support/webhook-receiver.js';

/**
 * Embedded engines of its own for every test: the policy and the rules are one stream each in the whole log. They run
 * in the test's process, where they start in no time; engines that are processes are others' subject.
 */
export async function startOwnServers(): Promise<Servers> {
  const directory = temporaryDirectory();
  const common = { secret: randomUUID(), port: 0, onFatal };
  const eventStore = await startEventStoreEngine({
    ...common,
    directory: join(directory.path, 'eventstore'),
  });
  const mongo = await startMongoEngine({ ...common, directory: join(directory.path, 'mongo') });
  return {
    eventStoreUrl: eventStore.url,
    mongoUrl: mongo.url,
    async stop() {
      await Promise.all([eventStore.stop(), mongo.stop()]);
      directory.remove();
    },
  };
}

function onFatal(error: Error) {
  throw error;
}

export interface AlertNode {
  readonly url: string;
  readonly kernel: Kernel;
  readonly evaluate: () => Promise<unknown>;
  readonly reaction: Reaction<LogsEvent<'AlertRaised'>>;
  /** A request and its answer, JSON both. */
  ask(method: string, path: string, body?: unknown, headers?: { [name: string]: string }): Promise<AlertAnswer>;
  stop(): Promise<void>;
}

export interface AlertAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

/** What one or another of the routes answers. */
interface Body {
  readonly error: string;
  readonly policy: AlertPolicy;
  readonly alerts: readonly AlertView[];
  readonly hasMore: boolean;
  readonly limit: number;
  readonly nextCursor?: string;
  readonly sentAt: string;
}

interface AlertView {
  readonly id: string;
  readonly rule: string;
  readonly state: string;
  readonly triggeredAt: string;
  readonly resolvedAt: string | null;
  readonly repeatedBy?: string;
  readonly webhook: { readonly delivered: boolean; readonly attempts: number; readonly reason?: string };
}

export interface NodeOptions {
  readonly servers: Servers;
  readonly counts: RecordCounts;
  /** Name of the node; a node with the name of a killed one takes over its leases immediately. */
  readonly node?: string;
  readonly secret?: string;
  readonly allowPrivate?: boolean;
}

export async function startAlertNode(options: NodeOptions): Promise<AlertNode> {
  const { counts, secret, allowPrivate = true } = options;
  const catalog = { service: 'logs', events: alertEvents };
  const started = await startServiceKernel({ ...options, database: 'annals', catalog, projections: [alertHistory] });
  const { kernel, signal } = started;
  const common = { ...kernel, service: 'logs', logger: silentLogger, signal };
  const { alerts, history, tryWebhook, evaluate, onEvent, reaction, periodic } = connectAlerting({
    kernel,
    counts,
    logger: silentLogger,
    release: 'test',
    allowPrivateWebhooks: allowPrivate,
    webhookSecret: secret,
    serviceUrl: () => 'http://logs.example',
    signal,
  });
  const begun = await kernel.head();
  const feed = async () => {
    const selection = { service: 'logs', types: ['AlertPolicyChanged'], from: begun, signal };
    for await (const { events } of kernel.follow(selection)) events.forEach(onEvent);
  };
  const running = [
    feed(),
    project(kernel, [alertHistory], signal).stopped,
    runReaction({ ...common, reaction, begun, reacted: () => {} }),
    runPeriodically({ ...common, ...periodic }),
  ];
  const http = await listen(
    { service: 'logs', title: 'Logs', version: 'test', cors: sameOrigin },
    alertRoutes({ alerts, history, tryWebhook, security: [], admit: () => ({ actor: 'tester' }) }),
    {
      host: '127.0.0.1',
      port: 0,
      logger: silentLogger,
      derivation: kernel.derivation,
      clientAddress: (address) => address,
    },
  );

  return {
    url: http.url,
    kernel,
    evaluate,
    reaction,
    async ask(method, path, body, headers = {}) {
      const init = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
      const sent = { 'Content-Type': 'application/json', ...headers };
      const response = await fetch(`${http.url}${path}`, { method, headers: sent, ...init });
      return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
    },
    async stop() {
      await http.close();
      await started.stop(running);
    },
  };
}

export type Alerting = ReturnType<typeof useAlerting>;

/** Engines, a receiver and what is counted, anew for every test of a `describe`, and whichever nodes it starts. */
export function useAlerting() {
  let servers: Servers;
  let receiver: Receiver;
  let nodes: AlertNode[];
  const now: { errors: number; lastRecordAt: number | undefined } = { errors: 0, lastRecordAt: 0 };
  const counts = { errorsBetween: async () => now.errors, lastRecordAt: async () => now.lastRecordAt };
  beforeEach(async () => {
    servers = await startOwnServers();
    nodes = [];
    Object.assign(now, { errors: 0, lastRecordAt: Date.now() });
    receiver = await startReceiver();
  });
  afterEach(async () => {
    await Promise.all(nodes.map((node) => node.stop()));
    await receiver.close();
    await servers.stop();
  });

  /** Certain: on a busy machine the history may be behind for longer than an answer waits for it. */
  const history = async (node: AlertNode, query = '') => {
    for (;;) {
      const { body, headers } = await node.ask('GET', `/api/alerts/history${query}`);
      if (!headers.has('consistency')) return body;
    }
  };
  return {
    /** What the records say: how many errors there are, and when the last record came. */
    now,
    get servers() {
      return servers;
    },
    get receiver() {
      return receiver;
    },
    get nodes() {
      return nodes;
    },
    async start(more: { node?: string; secret?: string; allowPrivate?: boolean } = {}) {
      const node = await startAlertNode({ servers, counts, ...more });
      nodes.push(node);
      return node;
    },
    put: (node: AlertNode, changes: unknown, headers = {}) => node.ask('PUT', '/api/alerts/config', changes, headers),
    history,
    /** The history once it is so. */
    projectionProgress: (node: AlertNode, so: (page: AlertAnswer['body']) => boolean | undefined) =>
      eventually(async () => {
        const page = await history(node);
        return so(page) && page;
      }),
    /** The policy that sends alerts to the receiver, and soon again. */
    on: () => ({ enabled: true, webhookUrl: receiver.url, webhookBackoffMs: 1 }),
  };
}
