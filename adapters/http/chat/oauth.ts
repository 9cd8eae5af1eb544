/** Signing in by way of other providers: away, and back with a redirect, whatever came of it. */
import type { OAuth, Returned } from '../../../application/chat/sign-in/oauth.js';
import type { Rejection } from '../../../domain/shared/index.js';
import type { Answer } from '../server/answer.js';
import type { RateLimit } from '../server/rate-limit.js';
import { type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

export interface OAuthDeps {
  readonly oauth: OAuth;
  /** One sign-in counts once; so does whoever comes back and was never sent away. */
  readonly attempts: RateLimit;
  /** Where people are sent in the end. */
  readonly appUrl: () => string;
}

const noProvider: Rejection = {
  rejected: 'chat/no-provider',
  kind: 'not-found',
  detail: 'There is no such provider',
};

/** By the names that `auth.routes` tells them under. */
export const OAUTH_ROUTES = {
  oauthProviders: '/auth/oauth/providers',
  oauthStart: '/auth/oauth/:providerId',
  oauthCallback: '/auth/oauth/:providerId/callback',
} as const;

const NO_PROVIDER = { description: 'There is no such provider' };
/** Whatever a provider, or who else sends a browser there, has put into it: what is wrong is told by a redirect too. */
const maybe = { description: 'A text of at most 4096 characters, given once' } as const;
const MOST_CHARACTERS = 4096;

const once = (given: unknown): string | undefined =>
  typeof given === 'string' && given.length <= MOST_CHARACTERS ? given : undefined;

const returned = ({ code, state, error }: { readonly [name in keyof Returned]: unknown }): Returned => ({
  code: once(code),
  state: once(state),
  error: error === undefined ? undefined : (once(error) ?? ''),
});

export function oauthRoutes({ oauth, attempts, appUrl }: OAuthDeps): readonly Route[] {
  const providers = oauth.providers.map(({ id, name }) => ({ id, name, loginUrl: `/auth/oauth/${id}` }));

  function home(found: { readonly [name: string]: string }): Answer {
    const url = new URL(appUrl());
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    for (const [name, value] of Object.entries(found)) url.searchParams.set(name, value);
    return { status: 302, headers: { Location: url.href } };
  }

  const list = route({
    method: 'GET',
    path: OAUTH_ROUTES.oauthProviders,
    summary: 'The providers to sign in by',
    answers: { 200: { description: 'Providers', schema: schemas.providers } },
    handle: () => ({ status: 200, body: { providers, count: providers.length } }),
  });

  const away = route({
    method: 'GET',
    path: OAUTH_ROUTES.oauthStart,
    summary: 'To the authorization page of a provider',
    answers: {
      302: { description: 'There, with a state that works once, within ten minutes, from the same address' },
      404: NO_PROVIDER,
      429: { description: 'Too many attempts from this network' },
    },
    async handle(request) {
      const provider = oauth.named(request.params.providerId);
      if (!provider) return noProvider;
      const retryAfterMs = await attempts.spend(request.address);
      if (retryAfterMs !== undefined) return { rejected: 'chat/too-many-attempts', kind: 'limit', retryAfterMs };
      return { status: 302, headers: { Location: oauth.away(provider, fromOf(request)) } };
    },
  });

  const back = route({
    method: 'GET',
    path: OAUTH_ROUTES.oauthCallback,
    summary: 'Back from a provider',
    description:
      'Leads to the application with `access_token`, `refresh_token` and `expires_in` (seconds), or with `oauth_error`: ' +
      '`invalid_state`, `missing_code`, `access_denied`, `provider_error`, `no_verified_email`, `user_not_found`, ' +
      '`rate_limit_exceeded`, `server_error`.',
    query: { type: 'object', properties: { code: maybe, state: maybe, error: maybe } },
    answers: { 302: { description: 'To the application' }, 404: NO_PROVIDER },
    async handle(request) {
      const provider = oauth.named(request.params.providerId);
      if (!provider) return noProvider;
      const query = returned(request.query);
      const context = anonymousContext(request, query.state);
      const found = await oauth.back(provider, query, fromOf(request), context);
      if (!('failure' in found)) {
        const { accessToken, refreshToken, exp } = found;
        return home({ access_token: accessToken, refresh_token: refreshToken, expires_in: String(exp) });
      }
      const isOver = found.isForged && (await attempts.spend(request.address)) !== undefined;
      return home({ oauth_error: isOver ? 'rate_limit_exceeded' : found.failure });
    },
  });

  return [list, away, back];
}
