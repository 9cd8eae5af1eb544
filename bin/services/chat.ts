/** The chat service, put together. */
import { eventsRoute } from '../../adapters/http/chat/events.js';
import { chatPolicy } from '../../adapters/http/chat/policy.js';
import { documentRoutes } from '../../adapters/http/kernel/docs.js';
import { chat as audience, endedBy } from '../../adapters/relay/chat.js';
import { catalog } from '../../domain/chat/catalog.js';
import { relayed, type Service } from '../node/service.js';
import { administrationProjections, createAdministration } from './chat/administration.js';
import { connectIdentity } from './chat/identity.js';
import { createTalk, talkProjections } from './chat/talk.js';

/** Promised to clients of its stream. */
const BEAT_MS = 25_000;

export const chat: Service<typeof catalog> = {
  name: 'chat',
  catalog,
  projections: [...talkProjections, ...administrationProjections],
  port: (values) => values['chat.port'],
  async connect(context) {
    const { kernel, values, release, logger } = context;
    const { clock } = kernel;
    const relay = await context.relay(audience, BEAT_MS);
    const identity = connectIdentity({ ...context, heard: relay.position });
    const { admission, audit, doors, signIn, reactions } = identity;
    const talk = createTalk({ kernel, admission, doors });
    const administration = createAdministration({ kernel, admission, audit, doors, talk, logger });
    const routes = [
      ...identity.routes,
      ...talk.routes,
      ...administration.routes,
      eventsRoute({ admission, relay, clock, presence: administration.presence }),
    ];
    const policy = chatPolicy(release, values['server.allowedOrigins']);
    return {
      policy,
      signIn,
      routes: [...routes, ...documentRoutes(policy, routes)],
      ...relayed(relay),
      publish(event) {
        relay.publish(event);
        const ended = endedBy(event);
        if (ended !== undefined) relay.end(ended);
      },
      async start() {
        const admin = await identity.start();
        const first = values['chat.defaultChannel'];
        if (first) await talk.channels.createFirst(admin.id, first, kernel.systemContext('chat.start'));
      },
      reactions: [...reactions, ...talk.reactions],
      periodic: administration.periodic,
    };
  },
};
