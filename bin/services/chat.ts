/** Composes the chat service. */
import { adminRoutes } from '../../adapters/http/chat/admin.js';
import { eventsRoute } from '../../adapters/http/chat/events.js';
import { chatPolicy } from '../../adapters/http/chat/policy.js';
import { presenceRoutes } from '../../adapters/http/chat/presence.js';
import { createChatQuotas } from '../../adapters/http/chat/quotas.js';
import { searchRoutes } from '../../adapters/http/chat/search.js';
import { serverRoutes } from '../../adapters/http/chat/server-settings.js';
import { webhookRoutes } from '../../adapters/http/chat/webhooks.js';
import { documentRoutes } from '../../adapters/http/server/api-docs.js';
import { pageRoutes } from '../../adapters/http/server/web-page.js';
import { createStateAt } from '../../application/audit/index.js';
import { createExport } from '../../application/chat/admin/export.js';
import { chatThings } from '../../application/chat/admin/past-states.js';
import { createServer } from '../../application/chat/admin/server-settings.js';
import { createWebhooks } from '../../application/chat/admin/webhooks.js';
import { forgetErased, seedAggregatesFromRelay } from '../../application/chat/aggregates.js';
import { chatAudience, endStreams } from '../../application/chat/audience/audience.js';
import { createThreadSummaries } from '../../application/chat/messages/thread-summaries.js';
import { createPresence, presenceWork, SWEEP_EVERY_MS } from '../../application/chat/people/presence.js';
import { createSearch } from '../../application/chat/search/search-messages.js';
import { search as searchRows } from '../../projections/chat/search/projection.js';
import { createSearchIndex } from '../../projections/chat/search/reader.js';
import { relayMembers, type Service } from '../node/service.js';
import { connectIdentity } from './chat/identity.js';
import { createMessaging, fileStoreName, fileStoreOf } from './chat/messaging.js';
import { chat as definition } from './definitions/chat.js';

/** Keepalive interval that clients of the stream rely on. */
const BEAT_MS = 25_000;

const MISSING_FILES =
  'some uploaded files are missing from the file store; they answer 404 until the store is restored from a backup';

export const chat: Service<typeof definition.catalog> = {
  ...definition,
  port: (values) => values['chat.port'],
  async connect(context) {
    const { kernel, values, release, logger, metrics } = context;
    const { clock, projectionProgress } = kernel;
    const threads = createThreadSummaries(kernel);
    metrics.cache(threads.cache);
    const relay = await context.relay(chatAudience(threads.delivered), BEAT_MS);
    seedAggregatesFromRelay(kernel.aggregates, relay.state());
    const quotas = createChatQuotas(values);
    const identity = connectIdentity({ ...context, feedPosition: relay.position, quotas });
    const { admission, audit, guards, signIn, reactions } = identity;
    const fileStore = fileStoreOf(kernel, values);
    const messaging = createMessaging({ ...context, admission, guards, fileStore, quotas, threads });
    const { messages, visibility, opened, downloads } = messaging;
    const ports = { ...kernel, messages, opened, admission, audit, logger };
    const presence = createPresence(ports);
    const index = createSearchIndex({
      db: kernel.mongo.models,
      vault: kernel.vault,
      build: kernel.served.collectionOf(searchRows.name),
      projectionProgress,
    });
    for (const cache of index.caches) metrics.cache(cache);
    const routes = [
      ...identity.routes,
      ...messaging.routes,
      ...serverRoutes(guards, createServer(ports)),
      ...webhookRoutes(guards, createWebhooks(ports), quotas),
      ...presenceRoutes(guards, presence),
      ...adminRoutes({
        guards,
        audit,
        exportData: createExport(ports),
        stateAt: createStateAt(kernel, chatThings),
        downloads,
      }),
      ...searchRoutes(guards, createSearch({ index, projectionProgress, admission, visibility })),
      eventsRoute({ admission, relay, clock, presence }),
      ...pageRoutes('chat', 'The chat page. Query: `token` of a mailed link signs in or sets a password', [
        '/',
        '/reset',
      ]),
    ];
    const policy = chatPolicy(release, values['server.allowedOrigins']);
    return {
      policy,
      signIn,
      routes: [...routes, ...documentRoutes(policy, routes)],
      ...relayMembers(relay),
      prepare: threads.prepare,
      handlers: [relay.publish, endStreams(relay), forgetErased(kernel.aggregates, relay), ...messaging.handlers],
      async start() {
        const admin = await identity.start();
        const first = values['chat.defaultChannel'];
        if (first) await messaging.channels.createDefault(admin.id, first, kernel.systemContext('chat.start'));
        // In the background.
        messaging.findMissingFiles().then(
          (result) => result.lost > 0 && logger.error({ ...result, store: fileStoreName(values) }, MISSING_FILES),
          (err) => logger.warn({ err }, 'could not check for missing files'),
        );
      },
      reactions: [...reactions, ...messaging.reactions],
      periodic: [
        ...identity.periodic,
        { name: presenceWork(kernel.node), everyMs: SWEEP_EVERY_MS, run: presence.sweep },
        ...messaging.periodic,
      ],
    };
  },
};
