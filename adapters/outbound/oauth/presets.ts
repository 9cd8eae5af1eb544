/** Public endpoints of well-known OAuth providers. */
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
