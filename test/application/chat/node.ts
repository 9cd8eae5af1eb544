/** A chat node without HTTP, with users for tests. */
import { setMaxListeners } from 'node:events';
import { type Servers, silentLogger } from '@annals/engines/testing/engines.js';
import { createGridFsStore } from '../../../adapters/mongo/gridfs-blobs.js';
import { createThreadSummaries } from '../../../application/chat/messages/thread-summaries.js';
import { createJoin } from '../../../application/chat/people/users.js';
import { type Caller, createAuthentication } from '../../../application/chat/sign-in/authenticate.js';
import { createAggregateStore } from '../../../application/command/index.js';
import type { EventLog, RecordedEvent } from '../../../application/ports/index.js';
import { runReaction } from '../../../application/subscription/reaction-runner.js';
import { createMessaging } from '../../../bin/services/chat/messaging.js';
import { messagingProjections } from '../../../bin/services/definitions/chat.js';
import { type ChatEvent, catalog } from '../../../domain/chat/catalog.js';
import { isRejection, type Rejection } from '../../../domain/shared/decider.js';
import { commandsOf } from '../../support/memory-kernel.js';
import { createTestKernel, project } from '../../support/test-kernel.js';
import { context } from '../../support/toy-service.js';

/** A reader who never aborts the request. */
export function readerNamed(userId: string) {
  const { signal } = new AbortController();
  // Tests read many pages with one reader.
  setMaxListeners(0, signal);
  return { userId, request: { signal } };
}

/** A reader for tests without a specific user. */
export const somebody = readerNamed('somebody');

export type ChatNode = Awaited<ReturnType<typeof startChatNode>>;

/** `between` wraps the log. Reactions run if `react` is set; `projects: false` leaves the read model behind. */
export async function startChatNode(
  servers: Servers,
  database: string,
  { between = (_: EventLog): Partial<EventLog> => ({}), react = false, projects = true } = {},
) {
  const connected = await createTestKernel({
    servers,
    database,
    catalogs: [catalog],
    projections: messagingProjections,
  });
  const log = { ...connected.log, ...between(connected.log) };
  const { appended, clock, decryptEvent } = connected;
  const aggregates = createAggregateStore(log, decryptEvent);
  const kernel = { ...connected, log, aggregates, ...commandsOf({ log, aggregates, clock, appended }) };
  const stop = new AbortController();
  const { signal } = stop;
  await kernel.lifecycle.ensureActive(messagingProjections, kernel.served, { signal });
  const projector = projects ? project(kernel, messagingProjections, signal) : undefined;
  const admission = createAuthentication({ aggregates, tokens: {} as never, clock, feedPosition: () => 0n });
  let finds = 0;
  let [finding, most] = [0, 0];
  const find: typeof kernel.rows.find = (...args) => {
    finds++;
    most = Math.max(most, ++finding);
    return kernel.rows.find<never>(...args).finally(() => finding--);
  };
  const threads = createThreadSummaries({ log });
  const fileStore = createGridFsStore(kernel.mongo.models, 'chat_bytes', Date.now);
  const messaging = createMessaging({
    kernel: { ...kernel, rows: { find } },
    admission,
    guards: {} as never,
    quotas: {} as never,
    metrics: { cache() {}, budget() {} },
    fileStore,
    threads,
  });
  const common = { ...kernel, service: 'chat', logger: silentLogger, signal, reacted: () => {} };
  const begun = await kernel.head();
  const reacting = react ? messaging.reactions.map((reaction) => runReaction({ ...common, reaction, begun })) : [];
  const join = createJoin(kernel);

  return {
    ...messaging,
    kernel,
    admission,
    /** Number of row queries so far. */
    finds: () => finds,
    /** Maximum number of concurrent row queries while `work` runs. */
    async mostFinds(work: () => Promise<unknown>) {
      most = 0;
      await work();
      return most;
    },
    /** Delivers the live feed from the beginning until the node stops. */
    async feed() {
      for await (const { events } of kernel.follow({ prefixes: ['chat.'], from: 'start', signal })) {
        for (const event of events as readonly RecordedEvent<ChatEvent>[]) {
          if (!(event.type in catalog.events)) continue;
          aggregates.onEvent(event);
          const decrypted = await kernel.decryptEvent<ChatEvent>(catalog, event);
          await threads.prepare(decrypted);
          for (const handle of messaging.handlers) handle(decrypted);
        }
      }
    },
    /** Adds a new user. */
    async join(name: string, isAdmin = false): Promise<Caller> {
      const { user } = accepted(await join({ how: 'sign-in', isAdmin, email: `${name}@example.org` }, context()));
      return { userId: user.id, userName: user.userName, isAdmin, sessionId: '' };
    },
    async stop() {
      stop.abort();
      await Promise.all([projector?.stopped, ...reacting]);
      await kernel.close();
    },
  };
}

/** Returns the outcome, or throws if it is a rejection. */
export function accepted<Outcome extends object>(outcome: Outcome | Rejection): Exclude<Outcome, Rejection> {
  if (isRejection(outcome)) throw new Error(outcome.rejected);
  return outcome as Exclude<Outcome, Rejection>;
}
