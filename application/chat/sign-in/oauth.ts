/** Sign-in through OAuth providers, with PKCE and a state that is valid once. */

import { randomBytes } from 'node:crypto';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { CommandContext, OAuthClient, OAuthProvider, SignedTokens } from '../../ports/index.js';
import { spentStateAggregate } from '../aggregates.js';
import type { SignedIn } from './authenticate.js';
import { notInvited, type SignIn } from './open-session.js';
import type { SignInOrigin } from './sessions.js';

export interface OAuthPorts extends Pick<KernelPorts, 'handle' | 'log' | 'derivation' | 'clock' | 'logger'> {
  readonly providers: readonly OAuthProvider[];
  readonly client: OAuthClient;
  readonly signed: SignedTokens;
  readonly signIn: SignIn;
}

export interface CallbackParams {
  readonly state?: string | undefined;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
}

/** Failures reported to the application as `oauth_error`. */
export const OAUTH_FAILURES = [
  'invalid_state',
  'missing_code',
  'access_denied',
  'provider_error',
  'no_verified_email',
  'user_not_found',
  'rate_limit_exceeded',
  'server_error',
] as const;

export interface OAuthFailure {
  readonly failure: (typeof OAUTH_FAILURES)[number];
  /** The state was not issued by this installation. */
  readonly isForged?: true;
}

const STATE_BYTES = 32;
const STATE_SECONDS = 600;
/** Seconds a used state is remembered: until it has expired, plus a day for clock skew. */
const SPENT_SECONDS = STATE_SECONDS + 86_400;

export type OAuth = ReturnType<typeof createOAuth>;

export function createOAuth(ports: OAuthPorts) {
  const { providers, client, handle, log, signIn, signed, derivation, clock, logger } = ports;

  const audienceOf = (provider: OAuthProvider) => `annals:chat:oauth:${provider.id}`;
  const subjectOf = (ip: string) => derivation.id('chat.oauth-address', ip);
  const verifierOf = (state: string) => derivation.secret('chat.oauth-verifier', state).toString('base64url');

  /** Redirects to the provider. The state is a token, so that every node can verify it. */
  async function authorizationUrl(provider: OAuthProvider, { ip }: Pick<SignInOrigin, 'ip'>): Promise<string> {
    const iat = Math.floor(clock.now() / 1000);
    const jti = randomBytes(STATE_BYTES).toString('base64url');
    const claims = { aud: audienceOf(provider), sub: subjectOf(ip), jti, iat, exp: iat + STATE_SECONDS };
    const state = await signed.sign(claims);
    return client.authorizationUrl(provider, state, verifierOf(state));
  }

  async function isValidState(state: string, provider: OAuthProvider, ip: string): Promise<boolean> {
    const claims = await signed.read(state);
    if (claims?.aud !== audienceOf(provider) || claims.sub !== subjectOf(ip)) return false;
    return clock.now() < claims.exp * 1000;
  }

  /** Signs in by the email that the provider has verified. */
  async function completeSignIn(
    provider: OAuthProvider,
    { state, code, error }: CallbackParams,
    from: SignInOrigin,
    context: CommandContext,
  ): Promise<SignedIn | OAuthFailure> {
    if (state === undefined || !(await isValidState(state, provider, from.ip)))
      return { failure: 'invalid_state', isForged: true };
    const stream = `chat.oauth-${derivation.id('chat.oauth', state)}`;
    const setRetention = () => log.retain(stream, { maxAgeSeconds: SPENT_SECONDS });
    const spend = { type: 'RecordRequest' as const, now: clock.now() };
    const spent = await handle(spentStateAggregate, stream, spend, context, setRetention);
    // Without an event the state was used before.
    if (isRejection(spent) || spent.events.length === 0) return { failure: 'invalid_state' };
    if (error !== undefined) return { failure: error === 'access_denied' ? 'access_denied' : 'provider_error' };
    if (!code) return { failure: 'missing_code' };
    const profile = await client.profile(provider, code, verifierOf(state)).catch((err: unknown) => {
      logger.warn({ err, provider: provider.id }, 'OAuth provider returned no profile');
      return undefined;
    });
    if (!profile) return { failure: 'provider_error' };
    if (profile.email === undefined) return { failure: 'no_verified_email' };
    const result = await signIn.signInWithEmail(profile.email, from, context, profile.name);
    return isRejection(result) ? failureFor(result) : result.body;
  }

  return {
    providers,
    findProvider: (id: string) => providers.find((provider) => provider.id === id),
    authorizationUrl,
    completeSignIn,
  };
}

function failureFor({ rejected, kind }: Rejection): OAuthFailure {
  if (rejected === notInvited.rejected) return { failure: 'user_not_found' };
  if (kind === 'limit') return { failure: 'rate_limit_exceeded' };
  return { failure: kind === 'invalid' ? 'no_verified_email' : 'server_error' };
}
