/** The chat service, put together. */
import { createSignedTokens } from '../../adapters/crypto/signed-tokens.js';
import { createDoors } from '../../adapters/http/chat/admit.js';
import { authRoutes } from '../../adapters/http/chat/auth.js';
import { devLoginRoute } from '../../adapters/http/chat/dev-login.js';
import { eventsRoute } from '../../adapters/http/chat/events.js';
import { healthRoutes } from '../../adapters/http/chat/health.js';
import { chatPolicy } from '../../adapters/http/chat/policy.js';
import { usersRoutes } from '../../adapters/http/chat/users.js';
import { documentRoutes } from '../../adapters/http/kernel/docs.js';
import type { Route } from '../../adapters/http/kernel/route.js';
import { chat as audience, endedBy } from '../../adapters/relay/chat.js';
import { createChatAdmission } from '../../application/chat/admission.js';
import { makeInitialUser } from '../../application/chat/initial-user.js';
import { createPeople } from '../../application/chat/people.js';
import { createSessions } from '../../application/chat/sessions.js';
import { createSignIn } from '../../application/chat/sign-in.js';
import { createTokens } from '../../application/chat/tokens.js';
import { createUsers } from '../../application/chat/users.js';
import { catalog } from '../../domain/chat/catalog.js';
import { relayed, type Service } from '../node/service.js';
import type { AnnalsValues } from '../settings.js';
import { administrationProjections, createAdministration } from './chat/administration.js';
import { createTalk, talkProjections } from './chat/talk.js';

/** Promised to clients of its stream. */
const BEAT_MS = 25_000;

export const chat: Service<typeof catalog> = {
  name: 'chat',
  catalog,
  projections: [...talkProjections, ...administrationProjections],
  port: (values) => values['chat.port'],
  async connect({ kernel, values, release, metrics, logger, ...context }) {
    const { clock, derivation, streams } = kernel;
    const relay = await context.relay(audience, BEAT_MS);
    const mode = values['auth.authMode'];
    const isInviteRequired = values['auth.isInviteRequired'];
    const lives = {
      jwtExpirySeconds: values['auth.jwtExpirySeconds'],
      refreshTokenExpirySeconds: values['auth.refreshTokenExpirySeconds'],
      maxActiveSessions: values['auth.maxActiveSessions'],
    };
    const secret = values['auth.jwtSecret'];
    const signed = createSignedTokens(secret ? Buffer.from(secret) : derivation.secret('chat.signing'));
    const tokens = createTokens({ signed, derivation, clock, ...lives });
    metrics.cache(tokens.cache);
    const admission = createChatAdmission({ streams, tokens, clock, heard: relay.position });
    const ports = { ...kernel, tokens, admission };
    const come = createPeople(ports);
    const sessions = createSessions({ ...ports, ...lives });
    const signIn = createSignIn({ ...ports, come, sessions, isInviteRequired });

    const doors = createDoors(admission);
    const talk = createTalk({ kernel, admission, doors });
    const administration = createAdministration({ kernel, admission, doors, talk, logger });
    const signInRoutes: readonly Route[] = mode === 'dev' ? [devLoginRoute(signIn)] : [];
    const users = createUsers(ports);
    const ownRoutes = [...signInRoutes, ...authRoutes({ doors, admission, sessions })];
    const hasEmail = values['email.host'] !== undefined;
    const config = {
      mode,
      hasEmail,
      isInviteRequired,
      oauthEnabled: false,
      passwordResetEnabled: mode === 'password' && hasEmail,
      registrationEnabled: mode === 'password' && !isInviteRequired,
    };
    const routes = [
      ...ownRoutes,
      ...healthRoutes(config, namesOf(ownRoutes)),
      ...usersRoutes({ doors, admission, users }),
      ...talk.routes,
      ...administration.routes,
      eventsRoute({ admission, relay, clock, presence: administration.presence }),
    ];
    const policy = chatPolicy(release, values['server.allowedOrigins']);
    return {
      policy,
      signIn: signInLine(values),
      routes: [...routes, ...documentRoutes(policy, routes)],
      ...relayed(relay),
      publish(event) {
        relay.publish(event);
        const ended = endedBy(event);
        if (ended !== undefined) relay.end(ended);
      },
      async start() {
        const { 'chat.initialUser.email': email, 'chat.initialUser.userName': userName } = values;
        const context = kernel.systemContext('chat.start');
        const { user } = await makeInitialUser(come, { email, userName }, context);
        const first = values['chat.defaultChannel'];
        if (first) await talk.channels.createFirst(user.id, first, kernel.systemContext('chat.start'));
      },
      reactions: [],
      periodic: administration.periodic,
    };
  },
};

/** By the last part of their path. */
const namesOf = (routes: readonly Route[]): { readonly [name: string]: string } =>
  Object.fromEntries(routes.map(({ path }) => [nameOf(path), path]));

const nameOf = (path: string) =>
  path.slice(path.lastIndexOf('/') + 1).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

function signInLine(values: AnnalsValues): string {
  const email = values['chat.initialUser.email'];
  if (values['auth.authMode'] === 'dev')
    return `dev mode, everybody signs in with an email alone: POST /auth/dev-login {"email":"${email}"} is the admin`;
  return `${values['auth.authMode']} mode; the admin is ${email}`;
}
