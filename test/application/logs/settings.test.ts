/** Combinations of log service settings that are rejected. */
import { expect } from 'chai';
import { isLoopback, logsRules, logsServedRules, logsSettings } from '../../../application/logs/settings.js';

type Values = Parameters<(typeof logsRules)[number]>[0];

const defaults = Object.fromEntries(
  Object.entries(logsSettings).map(([key, setting]) => [key, 'default' in setting ? setting.default : undefined]),
);
const blamed = (settings: Record<string, unknown>) => {
  const values = { host: '127.0.0.1', ...defaults, ...settings } as unknown as Values;
  return [...logsRules, ...logsServedRules].flatMap((rule) => rule(values) ?? []);
};
const keys = (settings: Record<string, unknown>) => blamed(settings).map(({ key }) => key);

describe('the settings of the log service', () => {
  it('may stay at their defaults on a loopback host', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) expect(keys({ host }), host).to.deep.equal([]);
  });

  it('require credentials or --allow-open on a public host', () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example.com', 'x127.0.0.1', '127.0.0.1.nip.io']) {
      expect(isLoopback(host), host).to.equal(false);
      expect(keys({ host }), host).to.deep.equal(['logs.apiToken']);
      expect(keys({ host, allowOpen: true })).to.deep.equal([]);
      expect(keys({ host, 'logs.apiToken': 'a-long-token' })).to.deep.equal([]);
      expect(keys({ host, 'logs.basic.username': 'ada', 'logs.basic.password': 'x' })).to.deep.equal([]);
    }
    expect(blamed({ host: '0.0.0.0' })[0]!.reason).to.include('--allow-open');
  });

  it('require user name and password together', () => {
    expect(keys({ 'logs.basic.username': 'ada', 'logs.basic.password': 'x' })).to.deep.equal([]);
    expect(blamed({ 'logs.basic.username': 'ada' })).to.deep.equal([
      { key: 'logs.basic.password', reason: 'must be set together with logs.basic.username' },
    ]);
    expect(blamed({ 'logs.basic.password': 'x' })).to.deep.equal([
      { key: 'logs.basic.username', reason: 'must be set together with logs.basic.password' },
    ]);
  });

  it('reject a user name that basic authentication cannot send', () => {
    expect(blamed({ 'logs.basic.username': 'a:b', 'logs.basic.password': 'x' })).to.deep.equal([
      { key: 'logs.basic.username', reason: 'must not contain a colon' },
    ]);
  });

  it('reject a token shared by producers or equal to the API token', () => {
    const producers = (...settings: [id: string, token: string][]) => ({
      'logs.producers': settings.map(([id, token]) => ({ id, token })),
      'logs.apiToken': 'the-api-token',
    });
    expect(keys(producers(['api', 'token-one'], ['web', 'token-two'], ['api', 'token-one']))).to.deep.equal([]);
    expect(blamed(producers(['api', 'token-one'], ['web', 'token-one']))).to.deep.equal([
      { key: 'logs.producers', reason: 'must not give api and web the same token' },
    ]);
    expect(blamed(producers(['api', 'the-api-token']))).to.deep.equal([
      { key: 'logs.producers', reason: 'must not give api the same token as logs.apiToken' },
    ]);
  });
});
