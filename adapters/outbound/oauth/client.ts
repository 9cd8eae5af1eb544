/** Asks providers who somebody is, server to server: the code for a token, the token for the profile. */
import type { OAuthClient, OAuthProvider } from '../../../application/ports/index.js';
import { emailOf, profileOf } from './profile.js';

/** All requests of a sign-in together: who signs in is answered in time. */
const MOST_MS = 6000;
const MOST_BYTES = 256 * 1024;

export function createOAuthClient(agent: string): OAuthClient {
  const common = { Accept: 'application/json', 'User-Agent': agent };

  async function asked(url: string, request: RequestInit, signal: AbortSignal): Promise<unknown> {
    const headers = { ...common, ...request.headers };
    const response = await fetch(url, { ...request, headers, signal, redirect: 'error' });
    if (!response.ok) {
      await response.body?.cancel();
      throw new Error(`a provider answered ${response.status}`);
    }
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of response.body ?? []) {
      size += piece.length;
      if (size > MOST_BYTES) throw new Error('a provider answered too much');
      pieces.push(piece);
    }
    return JSON.parse(Buffer.concat(pieces).toString());
  }

  async function tokenOf(provider: OAuthProvider, code: string, verifier: string, signal: AbortSignal) {
    const { tokenUrl, clientId, clientSecret, redirectUri } = provider;
    const form = new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
      client_id: clientId,
      client_secret: clientSecret,
      code_verifier: verifier,
    });
    const answer = await asked(tokenUrl, { method: 'POST', body: form }, signal);
    const token = isRecord(answer) ? answer.access_token : undefined;
    if (typeof token !== 'string') throw new Error('a provider gave no access token');
    return token;
  }

  return {
    async profile(provider, code, verifier) {
      const signal = AbortSignal.timeout(MOST_MS);
      const token = await tokenOf(provider, code, verifier, signal);
      const bearing = { headers: { Authorization: `Bearer ${token}` } };
      const answer = await asked(provider.userInfoUrl, bearing, signal);
      const profile = profileOf(isRecord(answer) ? answer : {}, provider.addresses);
      if (!provider.emailsUrl) return profile;
      // What is shown in the profile may be any address; the list says which are verified.
      return { ...profile, email: emailOf(await asked(provider.emailsUrl, bearing, signal)) };
    },
  };
}

const isRecord = (value: unknown): value is { readonly [member: string]: unknown } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
