/** Composes identity of the chat: users, sessions and ways to sign in. */
import { createSignedTokens } from '../../../adapters/crypto/signed-tokens.js';
import { createAuthGuards } from '../../../adapters/http/chat/auth.js';
import { OAUTH_ROUTES, oauthRoutes } from '../../../adapters/http/chat/oauth.js';
import type { ChatQuotas } from '../../../adapters/http/chat/quotas.js';
import { authRoutes } from '../../../adapters/http/chat/session-routes.js';
import { configRoutes, devLoginRoute, magicLinkRoutes, passwordRoutes } from '../../../adapters/http/chat/sign-in.js';
import { usersRoutes } from '../../../adapters/http/chat/users.js';
import { createHostGuard, type HostGuardOptions } from '../../../adapters/http/hardening/cross-site-guard.js';
import { createRateLimit } from '../../../adapters/http/server/client-network.js';
import { createLinkLimit } from '../../../adapters/http/server/link-request.js';
import { healthRoute, type Route } from '../../../adapters/http/server/route.js';
import { createMailer } from '../../../adapters/outbound/mail/smtp.js';
import { createOAuthClient } from '../../../adapters/outbound/oauth/client.js';
import { providersOf } from '../../../adapters/outbound/oauth/providers.js';
import { publicUrl } from '../../../adapters/platform/process/format-url.js';
import { createAudit, preserveActs } from '../../../application/chat/admin/audit-log.js';
import { createAddUser, createInitialAdmin, inviteReaction } from '../../../application/chat/people/add-user.js';
import { erasureReaction } from '../../../application/chat/people/erase-user.js';
import { createJoin, createUsers } from '../../../application/chat/people/users.js';
import { createAuthentication, createTokens } from '../../../application/chat/sign-in/authenticate.js';
import { createLinks, mailReaction, type Templates } from '../../../application/chat/sign-in/links.js';
import { createOAuth } from '../../../application/chat/sign-in/oauth.js';
import { createSignIn } from '../../../application/chat/sign-in/open-session.js';
import { createPasswordSignIn, createPasswords } from '../../../application/chat/sign-in/passwords.js';
import { createSessions, departureReaction } from '../../../application/chat/sign-in/sessions.js';
import { createBudget } from '../../../application/concurrency/index.js';
import type { Position } from '../../../application/ports/index.js';
import { createDayKeyExpiry, DAY_KEY_EXPIRY_EVERY_MS } from '../../../application/secrets/index.js';
import type { AnyReaction } from '../../../application/subscription/index.js';
import { linksSubjectOf } from '../../../domain/chat/events/sign-in.js';
import type { ServiceContext } from '../../node/service.js';
import { smtpOf } from '../../node/smtp.js';
import type { AnnalsValues } from '../../settings.js';

/** Window of the limit on OAuth sign-ins. */
const WINDOW_MS = 15 * 60_000;
const HOUR_MS = 60 * 60_000;
/** Passwords being hashed or queued: a queue that is worked off within seconds. */
const MAX_HASHING = 36;

export interface IdentityContext
  extends Pick<ServiceContext, 'kernel' | 'values' | 'release' | 'metrics' | 'logger' | 'signal' | 'url'> {
  /** Position up to which the relay has received events. */
  readonly feedPosition: () => Position;
  readonly quotas: ChatQuotas;
}

export function connectIdentity(context: IdentityContext) {
  const { kernel, values, release, metrics, logger, signal, url, feedPosition, quotas } = context;
  const { clock, derivation, aggregates } = kernel;
  const mode = values['auth.authMode'];
  const takesPasswords = mode === 'password';
  const isInviteRequired = values['auth.isInviteRequired'];
  const hasEmail = values['email.host'] !== undefined;
  const expiries = {
    jwtExpirySeconds: values['auth.jwtExpirySeconds'],
    refreshTokenExpirySeconds: values['auth.refreshTokenExpirySeconds'],
    maxActiveSessions: values['auth.maxActiveSessions'],
    magicLinkExpirySeconds: values['auth.magicLinkExpirySeconds'],
    inviteExpirySeconds: values['auth.inviteExpirySeconds'],
  };
  const secret = values['auth.jwtSecret'];
  const signed = createSignedTokens(secret ? Buffer.from(secret) : derivation.secret('chat.signing'));
  const tokens = createTokens({ signed, derivation, clock, ...expiries });
  metrics.cache(tokens.cache);
  const admission = createAuthentication({ aggregates, tokens, clock, feedPosition });
  const ports = {
    ...kernel,
    tokens,
    admission,
    signed,
    isInviteRequired,
    takesPasswords,
    hasEmail,
    ...expiries,
  };
  const joinUser = createJoin(ports);
  const sessions = createSessions({ ...ports, sessionQuota: quotas.sessions });
  const links = createLinks(ports);
  const passwords = createPasswords({ ...ports, hashing: kernel.passwords });
  const audit = createAudit(kernel);
  const withPeople = { ...ports, audit, join: joinUser, sessions, links, passwords };
  const signIn = createSignIn(withPeople);
  const passwordSignIn = createPasswordSignIn(withPeople);
  const users = createUsers(ports);
  const guards = createAuthGuards(admission);

  const appUrl = publicUrl(values['auth.appUrl'] ?? values['chat.appUrl'], url);
  const providers = providersOf(values, (id) => `${appUrl().replace(/\/$/, '')}/auth/oauth/${id}/callback`);
  const client = createOAuthClient(`annals/${release}`);
  const oauth = createOAuth({ ...withPeople, providers, client, signIn, logger });
  const linksPerNetwork = createLinkLimit();
  const hashing = createBudget('passwords', MAX_HASHING);
  metrics.budget(hashing);
  const attempts = createRateLimit(values['oauth.maxAttempts'], WINDOW_MS);
  const signInRoutes: { readonly [mode in typeof mode]: () => readonly Route[] } = {
    dev: () => [devLoginRoute(signIn, values.allowDev ? allowAll : createHostGuard(installationPages(values)))],
    'magic-link': () => magicLinkRoutes(links, signIn, linksPerNetwork),
    password: () =>
      passwordRoutes({
        passwords: passwordSignIn,
        links: hasEmail ? links : undefined,
        linksPerNetwork,
        registersPerNetwork: createRateLimit(values['chat.registerPerHour'], HOUR_MS),
        hashing,
        isOpen: !isInviteRequired,
      }),
  };
  const auth = [...signInRoutes[mode](), ...authRoutes(guards, admission, sessions)];
  const config = {
    mode,
    hasEmail,
    isInviteRequired,
    oauthEnabled: providers.length > 0,
    passwordResetEnabled: takesPasswords && hasEmail,
    registrationEnabled: takesPasswords && !isInviteRequired,
  };
  const routeNames = { ...namesOf(auth), ...(providers.length > 0 && OAUTH_ROUTES) };
  const addUser = createAddUser(withPeople);
  const reactions: AnyReaction[] = [
    departureReaction(ports),
    erasureReaction(ports),
    preserveActs(audit.note, derivation),
  ];
  if (hasEmail) {
    const mailer = createMailer(smtpOf(values, logger));
    signal.addEventListener('abort', mailer.close, { once: true });
    const subject = values['email.emailSubject'];
    const emailOptions = { mailer, appUrl, subject, templates: templatesOf(values) };
    reactions.push(mailReaction({ ...withPeople, ...emailOptions, logger, signal }));
    if (mode !== 'dev') reactions.push(inviteReaction({ ...withPeople, logger }));
  }

  return {
    admission,
    audit,
    guards,
    sessions,
    reactions,
    periodic: [
      {
        name: 'chat.link-keys',
        everyMs: DAY_KEY_EXPIRY_EVERY_MS,
        run: createDayKeyExpiry({ ...ports, subjectOf: linksSubjectOf }),
        mayRun: clock.inSync,
      },
    ],
    routes: [
      ...auth,
      ...(providers.length > 0 ? oauthRoutes(oauth, attempts, appUrl) : []),
      healthRoute,
      ...configRoutes(config, routeNames),
      ...usersRoutes({ guards, admission, users, addUser, passwords: passwordSignIn, quotas }),
    ],
    signIn: describeSignIn(values),
    async start() {
      const { 'chat.initialUser.email': email, 'chat.initialUser.userName': userName } = values;
      const password = values['chat.initialUser.password'];
      const starting = kernel.systemContext('chat.start');
      return createInitialAdmin({ join: joinUser, passwords }, { email, userName, password }, starting);
    },
  };
}

const allowAll = () => undefined;

/** Origins that may use the development sign-in: only pages of this installation, even if CORS allows others. */
function installationPages(values: AnnalsValues): HostGuardOptions {
  const appUrl = values['auth.appUrl'] ?? values['chat.appUrl'];
  const listed = values['server.allowedOrigins'].filter((origin) => origin !== '*');
  const origins = appUrl === undefined ? listed : [...listed, new URL(appUrl).origin];
  return { host: values.host, appUrl, origins };
}

/** The configuration has checked that they are functions, but not their parameters. */
const templatesOf = (values: AnnalsValues): Templates => ({
  text: values['auth.templates.textVersion'] as Templates['text'],
  html: values['auth.templates.htmlVersion'] as Templates['html'],
});

/** Paths by the camel-cased last segment. */
const namesOf = (routes: readonly Route[]): { readonly [name: string]: string } =>
  Object.fromEntries(routes.map(({ path }) => [nameOf(path), path]));

const nameOf = (path: string) =>
  path.slice(path.lastIndexOf('/') + 1).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

function describeSignIn(values: AnnalsValues): string {
  const email = values['chat.initialUser.email'];
  switch (values['auth.authMode']) {
    case 'dev':
      return `development mode: sign in as ${email}`;
    case 'magic-link':
      return `sign in by emailed link; administrator: ${email}`;
    case 'password':
      return `sign in with email and password; administrator: ${email}${values['chat.initialUser.password'] === undefined ? PASSWORD_HINT : ''}`;
  }
}

const PASSWORD_HINT = ' (set chat.initialUser.password, or reset the password by email)';
