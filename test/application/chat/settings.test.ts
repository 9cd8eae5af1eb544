/** Combinations of chat settings that are rejected. */
import { expect } from 'chai';
import { chatRules, chatSettings } from '../../../application/chat/settings.js';
import { oauthRules } from '../../../application/config/oauth-settings.js';

const rules = chatRules((host) => host === '127.0.0.1');
type Values = Parameters<(typeof rules)[number]>[0];

const defaults = Object.fromEntries(
  Object.entries(chatSettings).map(([key, setting]) => [key, 'default' in setting ? setting.default : undefined]),
);
const blamed = (settings: Record<string, unknown>) => {
  const values = { host: '127.0.0.1', ...defaults, ...settings } as unknown as Values;
  return rules.flatMap((rule) => rule(values) ?? []);
};
const keys = (settings: Record<string, unknown>) => blamed(settings).map(({ key }) => key);
const jwtSecret = 'f3b1c0de-5eed-4b1d-8f00-0123456789ab';
const safe = { 'auth.authMode': 'password', 'auth.jwtSecret': jwtSecret };

describe('the settings of the chat', () => {
  it('may stay at their defaults on a loopback address', () => {
    expect(keys({})).to.deep.equal([]);
  });

  it('reject dev mode on a public address unless --allow-dev is given', () => {
    expect(keys({ host: '0.0.0.0' })).to.deep.equal(['auth.authMode']);
    expect(blamed({ host: '0.0.0.0' })[0]?.reason).to.contain('--allow-dev');
    expect(keys({ host: '0.0.0.0', allowDev: true })).to.deep.equal([]);
    expect(keys({ host: '0.0.0.0', ...safe })).to.deep.equal([]);
  });

  it('require a custom secret outside dev mode', () => {
    for (const secret of [
      undefined,
      'short',
      'x'.repeat(40),
      'change-me-to-something-long-and-random!',
      'your-secret-key-your-secret-key-your',
    ])
      expect(keys({ ...safe, 'auth.jwtSecret': secret }), secret).to.deep.equal(['auth.jwtSecret']);
    expect(keys(safe)).to.deep.equal([]);
    expect(keys({ 'auth.jwtSecret': 'short' })).to.deep.equal([]);
  });

  it('require a mail server for magic links', () => {
    const magic = { ...safe, 'auth.authMode': 'magic-link' };
    expect(keys(magic)).to.deep.equal(['email.host']);
    expect(keys({ ...magic, 'email.host': 'mail.example.org' })).to.deep.equal([]);
  });

  it('require a valid initial admin', () => {
    expect(keys({ 'chat.initialUser.email': 'admin' })).to.deep.equal(['chat.initialUser.email']);
    expect(keys({ 'chat.initialUser.userName': ' ' })).to.deep.equal(['chat.initialUser.userName']);
  });
});

describe('the settings of OAuth providers', () => {
  const custom = {
    id: 'own',
    name: 'Own',
    authorizationUrl: 'https://own.example/authorize',
    tokenUrl: 'https://own.example/token',
    userInfoUrl: 'https://own.example/me',
    clientId: 'id',
    clientSecret: 'secret',
  };
  const blamedFor = (settings: Record<string, unknown>) => {
    const values = { 'oauth.custom': [], ...settings } as unknown as Parameters<(typeof oauthRules)[number]>[0];
    return oauthRules.flatMap((rule) => rule(values)?.key ?? []);
  };

  it('require both the id and the secret of a preset', () => {
    const [id, secret] = ['oauth.presets.github.clientId', 'oauth.presets.github.clientSecret'];
    expect(blamedFor({ [id]: 'x', [secret]: 'y' })).to.deep.equal([]);
    expect(blamedFor({ [id]: 'x' })).to.deep.equal([secret]);
    expect(blamedFor({ [secret]: 'y' })).to.deep.equal([id]);
    expect(blamedFor({ 'oauth.presets.github.redirectUri': 'nowhere' })).to.deep.equal([
      'oauth.presets.github.redirectUri',
    ]);
  });

  it('require unique provider ids and valid URLs', () => {
    expect(blamedFor({ 'oauth.custom': [custom] })).to.deep.equal([]);
    for (const wrong of [
      [custom, custom],
      [{ ...custom, id: 'github' }],
      [{ ...custom, id: 'providers' }],
      [{ ...custom, tokenUrl: 'file:///etc/passwd' }],
      [{ ...custom, redirectUri: 'x' }],
    ])
      expect(blamedFor({ 'oauth.custom': wrong })).to.deep.equal(['oauth.custom']);
  });
});
