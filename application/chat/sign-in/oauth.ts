/** Sign-in through OAuth providers, with PKCE and a state that is valid once. */

import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { oauthStream } from '../../../domain/chat/oauth.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import type { KernelPorts } from '../../command/index.js';
import type { CommandContext, EventLog, OAuthClient, OAuthProvider, Profile } from '../../ports/index.js';
import { oauthAggregate } from '../aggregates.js';
import { notInvited, type SignIn } from './open-session.js';
import type { SignedIn, SignInOrigin } from './sessions.js';

export interface OAuthPorts extends Pick<KernelPorts, 'handle' | 'derivation' | 'clock' | 'logger'> {
  readonly providers: readonly OAuthProvider[];
  readonly client: OAuthClient;
  readonly log: Pick<EventLog, 'retain'>;
  readonly signIn: SignIn;
}

export interface CallbackParams {
  readonly state?: string | undefined;
  readonly code?: string | undefined;
  readonly error?: string | undefined;
}

/** Failure reported to the application as `oauth_error`. */
export interface OAuthFailure {
  readonly failure:
    | 'invalid_state'
    | 'missing_code'
    | 'access_denied'
    | 'provider_error'
    | 'no_verified_email'
    | 'user_not_found'
    | 'rate_limit_exceeded'
    | 'server_error';
  /** The state was not issued by this installation. */
  readonly isForged?: true;
}

const STATE_BYTES = 32;
const STATE_MS = 600_000;
/** Seconds a used state is remembered: until it has expired, plus a day for clock skew. */
const SPENT_SECONDS = STATE_MS / 1000 + 86_400;
const STATE = /^([\w-]{43})\.(\d{1,15})\.([\w-]{43})$/;

export type OAuth = ReturnType<typeof createOAuth>;

export function createOAuth(ports: OAuthPorts) {
  const { providers, client, handle, log, signIn, derivation, clock, logger } = ports;

  const computeMac = (provider: string, ip: string, random: string, at: string) =>
    derivation.secret('chat.oauth-state', provider, ip, random, at).toString('base64url');
  const verifierOf = (state: string) => derivation.secret('chat.oauth-verifier', state).toString('base64url');
  const challengeOf = (state: string) => createHash('sha256').update(verifierOf(state)).digest('base64url');

  /** Stateless: the state itself holds its provider, network address and time, signed. */
  function newState(provider: string, ip: string): string {
    const [random, at] = [randomBytes(STATE_BYTES).toString('base64url'), String(clock.now())];
    return `${random}.${at}.${computeMac(provider, ip, random, at)}`;
  }

  function isValidState(state: string, provider: string, ip: string): boolean {
    const [, random = '', at = '', presentedMac = ''] = STATE.exec(state) ?? [];
    const age = clock.now() - Number(at);
    const isRight = timingSafeEqual(
      Buffer.from(presentedMac.padEnd(43)),
      Buffer.from(computeMac(provider, ip, random, at)),
    );
    return isRight && age >= -STATE_MS && age < STATE_MS;
  }

  function authorizationUrl(provider: OAuthProvider, { ip }: Pick<SignInOrigin, 'ip'>): string {
    const state = newState(provider.id, ip);
    const url = new URL(provider.authorizationUrl);
    const params = {
      ...provider.authorizationParams,
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: provider.redirectUri,
      ...(provider.scopes && { scope: provider.scopes }),
      state,
      code_challenge: challengeOf(state),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(params)) url.searchParams.set(name, value);
    return url.href;
  }

  /** Signs in by the email that the provider has verified. */
  async function completeSignIn(
    provider: OAuthProvider,
    { state, code, error }: CallbackParams,
    from: SignInOrigin,
    context: CommandContext,
  ): Promise<SignedIn | OAuthFailure> {
    if (state === undefined || !isValidState(state, provider.id, from.ip))
      return { failure: 'invalid_state', isForged: true };
    const stateId = derivation.id('chat.oauth', state);
    const spend = { type: 'SpendState' as const, stateId, provider: provider.id, now: clock.now() };
    const stream = oauthStream(stateId);
    const setRetention = () => log.retain(stream, { maxAgeSeconds: SPENT_SECONDS });
    const spent = await handle(oauthAggregate, stream, spend, context, setRetention);
    if (isRejection(spent)) return { failure: 'invalid_state' };
    if (error !== undefined) return { failure: error === 'access_denied' ? 'access_denied' : 'provider_error' };
    if (!code) return { failure: 'missing_code' };
    const profile = await fetchProfile(provider, code, verifierOf(state));
    if (!profile) return { failure: 'provider_error' };
    if (profile.email === undefined) return { failure: 'no_verified_email' };
    const result = await signIn.signInWithEmail(profile.email, from, context, profile.name);
    return isRejection(result) ? failureFor(result) : result.body;
  }

  async function fetchProfile(provider: OAuthProvider, code: string, verifier: string) {
    return client.profile(provider, code, verifier).catch((err: unknown): Profile | undefined => {
      logger.warn({ err, provider: provider.id }, 'OAuth provider returned no profile');
      return undefined;
    });
  }

  return {
    providers,
    findProvider: (id: string) => providers.find((provider) => provider.id === id),
    authorizationUrl,
    completeSignIn,
  };
}

const failureFor = ({ rejected, kind }: Rejection): OAuthFailure => ({
  failure:
    rejected === notInvited.rejected
      ? 'user_not_found'
      : kind === 'limit'
        ? 'rate_limit_exceeded'
        : kind === 'invalid'
          ? 'no_verified_email'
          : 'server_error',
});
