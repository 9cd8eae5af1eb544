/** Routes of signing in by OAuth providers: redirect to the provider, and callback. */

import { type CallbackParams, OAUTH_FAILURES, type OAuth } from '../../../application/chat/sign-in/oauth.js';
import { rejection } from '../../../domain/shared/index.js';
import type { Answer } from '../server/answer.js';
import type { RateLimit } from '../server/client-network.js';
import { type Route, route } from '../server/route.js';
import { anonymousContext } from './auth.js';
import * as schemas from './schemas.js';
import { fromOf } from './session-routes.js';

const noProvider = rejection('chat/no-provider', 'not-found', 'There is no such provider');

/** Paths by the names of `auth.routes`. */
export const OAUTH_ROUTES = {
  oauthProviders: '/auth/oauth/providers',
  oauthStart: '/auth/oauth/:providerId',
  oauthCallback: '/auth/oauth/:providerId/callback',
} as const;

const NO_PROVIDER = { description: 'There is no such provider' };
/** Any value is accepted, as errors of the callback are reported by a redirect too. */
const callbackParameter = { description: 'At most 4096 characters, given once' } as const;
const MAX_CHARACTERS = 4096;

const singleText = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= MAX_CHARACTERS ? value : undefined;

const parseCallback = ({
  code,
  state,
  error,
}: { readonly [name in keyof CallbackParams]: unknown }): CallbackParams => ({
  code: singleText(code),
  state: singleText(state),
  error: error === undefined ? undefined : (singleText(error) ?? ''),
});

/** @param attempts Counts sign-ins, and callbacks that no sign-in started. */
export function oauthRoutes(oauth: OAuth, attempts: RateLimit, appUrl: () => string): readonly Route[] {
  const providers = oauth.providers.map(({ id, name }) => ({ id, name, loginUrl: `/auth/oauth/${id}` }));

  function redirectToApp(parameters: { readonly [name: string]: string }): Answer {
    const url = new URL(appUrl());
    if (!url.pathname.endsWith('/')) url.pathname += '/';
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    return { status: 302, headers: { Location: url.href } };
  }

  return [
    route({
      method: 'GET',
      path: OAUTH_ROUTES.oauthProviders,
      summary: 'The OAuth providers',
      answers: { 200: { description: 'Providers', schema: schemas.providers } },
      handle: () => ({ status: 200, body: { providers, count: providers.length } }),
    }),
    route({
      method: 'GET',
      path: OAUTH_ROUTES.oauthStart,
      summary: 'Redirect to the authorization page of a provider',
      answers: {
        302: { description: 'Redirect with a state that is valid once, for ten minutes, from the same address' },
        404: NO_PROVIDER,
        429: { description: 'Too many attempts from this network' },
      },
      async handle(request) {
        const provider = oauth.findProvider(request.params.providerId);
        if (!provider) return noProvider;
        const retryAfterMs = await attempts.spend(request.address);
        if (retryAfterMs !== undefined) return { rejected: 'chat/too-many-attempts', kind: 'limit', retryAfterMs };
        return { status: 302, headers: { Location: await oauth.authorizationUrl(provider, fromOf(request)) } };
      },
    }),
    route({
      method: 'GET',
      path: OAUTH_ROUTES.oauthCallback,
      summary: 'Callback of a provider',
      description:
        'Leads to the application with `access_token`, `refresh_token` and `expires_in` (seconds), or with `oauth_error`: ' +
        `${OAUTH_FAILURES.map((each) => `\`${each}\``).join(', ')}.`,
      query: {
        type: 'object',
        properties: { code: callbackParameter, state: callbackParameter, error: callbackParameter },
      },
      answers: { 302: { description: 'Redirect to the application' }, 404: NO_PROVIDER },
      async handle(request) {
        const provider = oauth.findProvider(request.params.providerId);
        if (!provider) return noProvider;
        const query = parseCallback(request.query);
        const context = anonymousContext(request, query.state);
        const result = await oauth.completeSignIn(provider, query, fromOf(request), context);
        if (!('failure' in result)) {
          const { accessToken, refreshToken, exp } = result;
          return redirectToApp({ access_token: accessToken, refresh_token: refreshToken, expires_in: String(exp) });
        }
        const exceedsLimit = result.isForged && (await attempts.spend(request.address)) !== undefined;
        return redirectToApp({ oauth_error: exceedsLimit ? 'rate_limit_exceeded' : result.failure });
      },
    }),
  ];
}
