/** OAuth 2.0 client (authorization code flow with PKCE): exchanges a code for a token, and the token for the profile. */
import { createHash } from 'node:crypto';
import type { OAuthClient, OAuthProvider, Profile } from '../../../application/ports/index.js';
import { readBody } from '../bounded-body.js';

/** Milliseconds for all requests of a sign-in. */
const TIMEOUT_MS = 6000;
const MAX_BYTES = 256 * 1024;

export function createOAuthClient(agent: string): OAuthClient {
  const common = { Accept: 'application/json', 'User-Agent': agent };

  async function fetchJson(url: string, request: RequestInit, signal: AbortSignal): Promise<unknown> {
    const headers = { ...common, ...request.headers };
    const response = await fetch(url, { ...request, headers, signal, redirect: 'error' });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`the OAuth provider answered ${response.status}`);
    }
    return JSON.parse(await readBody(response, MAX_BYTES));
  }

  async function fetchToken(provider: OAuthProvider, code: string, verifier: string, signal: AbortSignal) {
    const { tokenUrl, clientId, clientSecret, redirectUri } = provider;
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      client_secret: clientSecret,
      code_verifier: verifier,
    });
    const answer = await fetchJson(tokenUrl, { method: 'POST', body: form }, signal);
    const token = isRecord(answer) ? answer.access_token : undefined;
    if (typeof token !== 'string') throw new Error('the OAuth provider returned no access token');
    return token;
  }

  return {
    authorizationUrl(provider, state, verifier) {
      const url = new URL(provider.authorizationUrl);
      const parameters = {
        ...provider.authorizationParams,
        response_type: 'code',
        client_id: provider.clientId,
        redirect_uri: provider.redirectUri,
        ...(provider.scopes && { scope: provider.scopes }),
        state,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return url.href;
    },

    async profile(provider, code, verifier) {
      const signal = AbortSignal.timeout(TIMEOUT_MS);
      const token = await fetchToken(provider, code, verifier, signal);
      const authorization = { headers: { Authorization: `Bearer ${token}` } };
      const answer = await fetchJson(provider.userInfoUrl, authorization, signal);
      const profile = profileOf(isRecord(answer) ? answer : {}, provider.addresses);
      if (!provider.emailsUrl) return profile;
      // The profile may show any address; the list says which are verified.
      return { ...profile, email: emailOf(await fetchJson(provider.emailsUrl, authorization, signal)) };
    },
  };
}

const isRecord = (value: unknown): value is Answer =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Answer = { readonly [member: string]: unknown };

const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);

const first = (answer: Answer, ...names: readonly string[]) =>
  names.map((name) => text(answer[name])).find((value) => value !== undefined);

/** Fields in which providers return the email address. */
const EMAIL_FIELDS = ['email', 'mail', 'userPrincipalName'] as const;

/** Ignores an address that the provider marks as unverified, and fields other than `addresses`. */
export function profileOf(answer: Answer, addresses: readonly string[] = EMAIL_FIELDS): Profile {
  return {
    email: isUnverified(answer) ? undefined : first(answer, ...addresses),
    name: first(answer, 'name', 'displayName', 'preferred_username', 'username', 'login'),
  };
}

/** By any of the known fields; without one the address is trusted. */
const isUnverified = ({ email_verified, emailVerified, verified_email, confirmed_at }: Answer): boolean =>
  [email_verified, emailVerified, verified_email].some((flag) => flag !== undefined && !TRUE_VALUES.includes(flag)) ||
  (confirmed_at !== undefined && text(confirmed_at) === undefined);

const TRUE_VALUES: readonly unknown[] = [true, 'true', 1, '1'];

/** Returns the primary address of a list if it is verified, else any verified one. */
export function emailOf(list: unknown): string | undefined {
  const verified = (Array.isArray(list) ? (list as Answer[]) : []).filter((each) => each?.verified === true);
  return text((verified.find(({ primary }) => primary === true) ?? verified[0])?.email);
}
