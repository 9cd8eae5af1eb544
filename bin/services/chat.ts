/** Composes the chat service. */
import { eventsRoute } from '../../adapters/http/chat/events.js';
import { chatPolicy } from '../../adapters/http/chat/policy.js';
import { createChatQuotas } from '../../adapters/http/chat/quotas.js';
import { documentRoutes } from '../../adapters/http/server/api-docs.js';
import { forgetErased, seedAggregatesFromRelay } from '../../application/chat/aggregates.js';
import { chat as audience, endStreams } from '../../application/chat/audience/audience.js';
import { catalog } from '../../domain/chat/catalog.js';
import { relayMembers, type Service } from '../node/service.js';
import { administrationProjections, createAdministration } from './chat/administration.js';
import { fileStoreName, fileStoreOf } from './chat/files.js';
import { connectIdentity } from './chat/identity.js';
import { createMessaging, messagingProjections } from './chat/messaging.js';
import { createSearching, searchProjections } from './chat/searching.js';

const MISSING_FILES =
  'some uploaded files are missing from the file store; they answer 404 until the store is restored from a backup';

/** Keepalive interval that clients of the stream rely on. */
const BEAT_MS = 25_000;

export const chat: Service<typeof catalog> = {
  name: 'chat',
  catalog,
  projections: [...messagingProjections, ...administrationProjections, ...searchProjections],
  port: (values) => values['chat.port'],
  async connect(context) {
    const { kernel, values, release, logger, metrics } = context;
    const { clock } = kernel;
    const relay = await context.relay(audience, BEAT_MS);
    seedAggregatesFromRelay(kernel.streams, relay.state());
    const quotas = createChatQuotas(values);
    const identity = connectIdentity({ ...context, feedPosition: relay.position, quotas });
    const { admission, audit, guards, signIn, reactions } = identity;
    const fileStore = fileStoreOf(kernel, values);
    const messaging = createMessaging({ ...context, admission, guards, fileStore, quotas });
    for (const budget of messaging.budgets) metrics.budget(budget);
    const administration = createAdministration({ kernel, admission, audit, guards, messaging, quotas, logger });
    const searching = createSearching({ kernel, admission, guards, metrics });
    const routes = [
      ...identity.routes,
      ...messaging.routes,
      ...administration.routes,
      ...searching.routes,
      eventsRoute({ admission, relay, clock, presence: administration.presence }),
    ];
    const policy = chatPolicy(release, values['server.allowedOrigins']);
    return {
      policy,
      signIn,
      routes: [...routes, ...documentRoutes(policy, routes)],
      ...relayMembers(relay),
      handlers: [relay.publish, endStreams(relay), forgetErased(kernel.streams, relay), ...messaging.handlers],
      async start() {
        const admin = await identity.start();
        const first = values['chat.defaultChannel'];
        if (first) await messaging.channels.createDefault(admin.id, first, kernel.systemContext('chat.start'));
        // In the background.
        searching
          .prepare()
          .catch((err) => logger.warn({ err }, 'the search index could not be preloaded; searches still work'));
        messaging.findMissingFiles().then(
          (result) => result.lost > 0 && logger.error({ ...result, store: fileStoreName(values) }, MISSING_FILES),
          (err) => logger.warn({ err }, 'could not check for missing files'),
        );
      },
      reactions: [...reactions, ...messaging.reactions],
      periodic: [...identity.periodic, ...administration.periodic, ...messaging.periodic],
    };
  },
};
