/** The chat service, put together. */
import { eventsRoute } from '../../adapters/http/chat/events.js';
import { chatPolicy } from '../../adapters/http/chat/policy.js';
import { createChatQuotas } from '../../adapters/http/chat/quotas.js';
import { documentRoutes } from '../../adapters/http/server/api-docs.js';
import { chat as audience, endBy } from '../../application/chat/audience/audience.js';
import { seedAggregatesFromRelay } from '../../application/chat/seed-aggregates.js';
import { fanOut, type LiveEvent } from '../../application/subscription/index.js';
import { catalog } from '../../domain/chat/catalog.js';
import { sessionStream } from '../../domain/chat/session.js';
import { relayed, type Service } from '../node/service.js';
import { administrationProjections, createAdministration } from './chat/administration.js';
import { fileStoreName, fileStoreOf } from './chat/files.js';
import { connectIdentity } from './chat/identity.js';
import { createTalk, talkProjections } from './chat/messaging.js';
import { createSearching, searchProjections } from './chat/searching.js';

const LOST_FILES =
  'the bytes of files that the log knows of are not in their store: these files are answered 404, and all else goes on; restore the store from a backup';

/** Promised to clients of its stream. */
const BEAT_MS = 25_000;

export const chat: Service<typeof catalog> = {
  name: 'chat',
  catalog,
  projections: [...talkProjections, ...administrationProjections, ...searchProjections],
  port: (values) => values['chat.port'],
  async connect(context) {
    const { kernel, values, release, logger, metrics } = context;
    const { clock } = kernel;
    const relay = await context.relay(audience, BEAT_MS);
    const base = () => seedAggregatesFromRelay(kernel.streams, relay.state());
    base();
    const quotas = createChatQuotas(values);
    const identity = connectIdentity({ ...context, heard: relay.position, quotas });
    const { admission, audit, doors, signIn, reactions } = identity;
    const fileStore = fileStoreOf(kernel, values);
    const talk = createTalk({ ...context, admission, doors, fileStore, quotas });
    for (const budget of talk.budgets) metrics.budget(budget);
    const administration = createAdministration({ kernel, admission, audit, doors, talk, quotas, logger });
    const searching = createSearching({ kernel, admission, doors, metrics });
    const routes = [
      ...identity.routes,
      ...talk.routes,
      ...administration.routes,
      ...searching.routes,
      eventsRoute({ admission, relay, clock, presence: administration.presence }),
    ];
    const policy = chatPolicy(release, values['server.allowedOrigins']);
    return {
      policy,
      signIn,
      routes: [...routes, ...documentRoutes(policy, routes)],
      ...relayed(relay),
      publish: fanOut<LiveEvent<typeof catalog>>(
        relay.publish,
        (event) => endBy(event, relay),
        (event) => {
          if (event.type !== 'UserErased') return;
          // Whom nobody is to read any more is also in what was told, and in what is remembered of their sessions.
          relay.forget();
          kernel.streams.forget(sessionStream(event.data.userId));
        },
        // Forgotten with what was erased: the relay has it, without that.
        (event) => (event.type === 'UserErased' || event.type === 'ChannelDeleted') && base(),
        (event) => event.type !== 'ProjectionSwitched' && talk.hear(event),
      ),
      async start() {
        const admin = await identity.start();
        const first = values['chat.defaultChannel'];
        if (first) await talk.channels.createFirst(admin.id, first, kernel.systemContext('chat.start'));
        // Nobody waits for it.
        searching.prepare().catch((err) => logger.warn({ err }, 'nothing is read ahead for searches'));
        talk.lostFiles().then(
          (found) => found.lost > 0 && logger.error({ ...found, store: fileStoreName(values) }, LOST_FILES),
          (err) => logger.warn({ err }, 'it was not looked whether the bytes of files are there'),
        );
      },
      reactions: [...reactions, ...talk.reactions],
      periodic: [...identity.periodic, ...administration.periodic, ...talk.periodic],
    };
  },
};
