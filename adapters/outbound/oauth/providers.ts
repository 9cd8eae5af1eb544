/** Lists the configured OAuth providers, among them presets with the public endpoints of well-known ones. */
import { customProviders, type OAuthValues, PRESET_IDS } from '../../../application/config/oauth-settings.js';
import type { OAuthProvider } from '../../../application/ports/index.js';

type Preset = Omit<OAuthProvider, 'id' | 'clientId' | 'clientSecret' | 'redirectUri'>;

export const PRESETS = {
  google: {
    name: 'Google',
    authorizationUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
    tokenUrl: 'https://oauth2.googleapis.com/token',
    userInfoUrl: 'https://openidconnect.googleapis.com/v1/userinfo',
    scopes: 'openid email profile',
  },
  microsoft: {
    name: 'Microsoft',
    authorizationUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/authorize',
    tokenUrl: 'https://login.microsoftonline.com/common/oauth2/v2.0/token',
    userInfoUrl: 'https://graph.microsoft.com/v1.0/me',
    // Any organisation can sign in its users and set any address as `mail`; this one is in its verified domain.
    addresses: ['userPrincipalName'],
    scopes: 'openid email profile User.Read',
  },
  github: {
    name: 'GitHub',
    authorizationUrl: 'https://github.com/login/oauth/authorize',
    tokenUrl: 'https://github.com/login/oauth/access_token',
    userInfoUrl: 'https://api.github.com/user',
    emailsUrl: 'https://api.github.com/user/emails',
    scopes: 'user:email read:user',
  },
  gitlab: {
    name: 'GitLab',
    authorizationUrl: 'https://gitlab.com/oauth/authorize',
    tokenUrl: 'https://gitlab.com/oauth/token',
    userInfoUrl: 'https://gitlab.com/api/v4/user',
    scopes: 'read_user email',
  },
} as const satisfies { readonly [id: string]: Preset };

/**
 * Presets first, in their order. `callbackOf` returns the redirect URI of a provider without a configured one; it is
 * called for each redirect, as the address may be known only once the service listens.
 */
export function providersOf(values: OAuthValues, callbackOf: (id: string) => string): readonly OAuthProvider[] {
  const redirectTo = (id: string, configured: string | undefined) => ({
    get redirectUri() {
      return configured ?? callbackOf(id);
    },
  });
  const presets = PRESET_IDS.flatMap((id): OAuthProvider[] => {
    const clientId = values[`oauth.presets.${id}.clientId`];
    const clientSecret = values[`oauth.presets.${id}.clientSecret`];
    if (clientId === undefined || clientSecret === undefined) return [];
    const redirect = redirectTo(id, values[`oauth.presets.${id}.redirectUri`]);
    return [Object.assign(redirect, { id, ...PRESETS[id], clientId, clientSecret })];
  });
  const custom = customProviders(values).map(({ redirectUri, scopes = '', ...provider }) =>
    Object.assign(redirectTo(provider.id, redirectUri), { ...provider, scopes }),
  );
  return [...presets, ...custom];
}
