/** The emails that each provider preset trusts, against a real provider. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { createOAuthClient } from '../../../../adapters/outbound/oauth/client.js';
import { PRESETS } from '../../../../adapters/outbound/oauth/providers.js';
import type { OAuthProvider } from '../../../../application/ports/identity.js';
import { granted, type Provider, startProvider } from '../../../support/oauth-provider.js';

const VERIFIER = 'a verifier that nobody guesses, of more than forty characters';

describe('the Microsoft preset', () => {
  let microsoft: Provider;
  before(async () => {
    microsoft = await startProvider('microsoft');
  });
  after(() => microsoft?.stop());

  /** Signs in with this profile. */
  async function profileOf(profile: object) {
    const { scopes: _, ...there } = microsoft.settings as OAuthProvider;
    const provider = { ...PRESETS.microsoft, ...there, redirectUri: 'http://localhost/back' };
    const url = new URL(provider.authorizationUrl);
    const parameters = {
      response_type: 'code',
      client_id: provider.clientId,
      redirect_uri: provider.redirectUri,
      state: 'state',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
    };
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
    const code = (await granted(url, profile)).get('code') ?? '';
    return createOAuthClient('test').profile(provider, code, VERIFIER);
  }

  it("uses the name within the organisation's domain, not the address that users can choose", async () => {
    const mallory = {
      displayName: 'Mallory',
      mail: 'admin@victim.example',
      email: 'admin@victim.example',
      userPrincipalName: 'mallory@evil.example',
    };
    expect(await profileOf(mallory)).to.deep.equal({ email: 'mallory@evil.example', name: 'Mallory' });
    expect(await profileOf({ mail: 'admin@victim.example' })).to.include({ email: undefined });
  });
});
