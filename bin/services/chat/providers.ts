/** Lists the configured OAuth providers: presets first, in their order. */
import { PRESETS } from '../../../adapters/outbound/oauth/presets.js';
import { customProviders, PRESET_IDS } from '../../../application/chat/sign-in/oauth-settings.js';
import type { OAuthProvider } from '../../../application/ports/index.js';
import type { AnnalsValues } from '../../settings.js';

/** @param appUrl Called for each redirect, as the address may be known only once the service listens. */
export function providersOf(values: AnnalsValues, appUrl: () => string): readonly OAuthProvider[] {
  const redirectTo = (id: string, configured: string | undefined) => ({
    get redirectUri() {
      return configured ?? `${appUrl().replace(/\/$/, '')}/auth/oauth/${id}/callback`;
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
