/** Settings of OAuth providers. */
import { readUrl } from '../../domain/shared/index.js';
import { integer, type Rule, type Settings, type ValuesOf } from './setting.js';

const idOf = (name: string) =>
  ({
    type: 'string',
    minLength: 1,
    description: `Client id at ${name}; enables sign-in through it`,
  }) as const;
const secretOf = (name: string) =>
  ({ type: 'string', minLength: 1, secret: true, description: `Client secret at ${name}` }) as const;
const redirectOf = (id: string) =>
  ({ type: 'string', minLength: 1, description: `Default {appUrl}/auth/oauth/${id}/callback` }) as const;

const text = { type: 'string', minLength: 1 };

export const oauthSettings = {
  'oauth.presets.google.clientId': idOf('Google'),
  'oauth.presets.google.clientSecret': secretOf('Google'),
  'oauth.presets.google.redirectUri': redirectOf('google'),
  'oauth.presets.microsoft.clientId': idOf('Microsoft'),
  'oauth.presets.microsoft.clientSecret': secretOf('Microsoft'),
  'oauth.presets.microsoft.redirectUri': redirectOf('microsoft'),
  'oauth.presets.github.clientId': idOf('GitHub'),
  'oauth.presets.github.clientSecret': secretOf('GitHub'),
  'oauth.presets.github.redirectUri': redirectOf('github'),
  'oauth.presets.gitlab.clientId': idOf('GitLab'),
  'oauth.presets.gitlab.clientSecret': secretOf('GitLab'),
  'oauth.presets.gitlab.redirectUri': redirectOf('gitlab'),
  'oauth.custom': {
    type: 'array',
    items: {
      type: 'object',
      required: ['id', 'name', 'authorizationUrl', 'tokenUrl', 'userInfoUrl', 'clientId', 'clientSecret'],
      properties: {
        id: { type: 'string', pattern: '^[\\w-]{1,64}$' },
        name: text,
        authorizationUrl: text,
        tokenUrl: text,
        userInfoUrl: text,
        clientId: text,
        clientSecret: text,
        redirectUri: text,
        scopes: { type: 'string' },
        authorizationParams: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
    default: [],
    secret: true,
    description:
      'Other providers: [{id, name, authorizationUrl, tokenUrl, userInfoUrl, clientId, clientSecret, redirectUri, scopes, authorizationParams}]',
  },
  'oauth.maxAttempts': integer(10, 'OAuth sign-ins per network and 15 minutes'),
} as const satisfies Settings;

export const PRESET_IDS = ['google', 'microsoft', 'github', 'gitlab'] as const;

/** As validated by the schema. */
export interface CustomProvider {
  readonly id: string;
  readonly name: string;
  readonly authorizationUrl: string;
  readonly tokenUrl: string;
  readonly userInfoUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri?: string;
  readonly scopes?: string;
  readonly authorizationParams?: { readonly [name: string]: string };
}

export type OAuthValues = ValuesOf<typeof oauthSettings>;

export const customProviders = (values: OAuthValues) =>
  values['oauth.custom'] as readonly unknown[] as readonly CustomProvider[];

const isHttp = (url: string) => /^https?:$/.test(readUrl(url)?.protocol ?? '');

function wrongUrl(provider: CustomProvider): string | undefined {
  return (['authorizationUrl', 'tokenUrl', 'userInfoUrl', 'redirectUri'] as const).find((name) => {
    const url = provider[name];
    return url !== undefined && !isHttp(url);
  });
}

export const oauthRules: readonly Rule<typeof oauthSettings>[] = [
  (values) => {
    for (const id of PRESET_IDS) {
      const [clientId, secret] = [`oauth.presets.${id}.clientId`, `oauth.presets.${id}.clientSecret`] as const;
      if (values[clientId] !== undefined && values[secret] === undefined)
        return { key: secret, reason: `must be set, as ${clientId} is` };
      if (values[clientId] === undefined && values[secret] !== undefined)
        return { key: clientId, reason: `must be set, as ${secret} is` };
      const redirect = `oauth.presets.${id}.redirectUri` as const;
      const url = values[redirect];
      if (url !== undefined && !isHttp(url)) return { key: redirect, reason: 'must be an http or https URL' };
    }
    return undefined;
  },
  (values) => {
    const key = 'oauth.custom';
    const seen = new Set<string>(['providers', ...PRESET_IDS]);
    for (const provider of customProviders(values)) {
      const { id } = provider;
      if (seen.has(id)) return { key, reason: `must not use the id ${id} twice, or that of a preset` };
      seen.add(id);
      const wrong = wrongUrl(provider);
      if (wrong) return { key, reason: `must have an http or https URL as ${wrong} of ${id}` };
    }
    return undefined;
  },
];
