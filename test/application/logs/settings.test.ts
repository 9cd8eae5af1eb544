/** Combinations of the log service's settings that must not run. */
import { expect } from 'chai';
import { isLoopback, logsRules, logsServedRules, logsSettings } from '../../../application/logs/settings.js';

type Values = Parameters<(typeof logsRules)[number]>[0];

const defaults = Object.fromEntries(
  Object.entries(logsSettings).map(([key, setting]) => [key, 'default' in setting ? setting.default : undefined]),
);
const blamed = (given: Record<string, unknown>) => {
  const values = { host: '127.0.0.1', ...defaults, ...given } as unknown as Values;
  return [...logsRules, ...logsServedRules].flatMap((rule) => rule(values) ?? []);
};
const keys = (given: Record<string, unknown>) => blamed(given).map(({ key }) => key);

describe('the settings of the log service', () => {
  it('may be left as they are on this machine', () => {
    for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1']) expect(keys({ host }), host).to.deep.equal([]);
  });

  it('need credentials, or to be allowed to go without, on a host beyond this machine', () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'localhost.example.com', 'x127.0.0.1', '127.0.0.1.nip.io']) {
      expect(isLoopback(host), host).to.equal(false);
      expect(keys({ host }), host).to.deep.equal(['logs.apiToken']);
      expect(keys({ host, allowOpen: true })).to.deep.equal([]);
      expect(keys({ host, 'logs.apiToken': 'a-long-token' })).to.deep.equal([]);
      expect(keys({ host, 'logs.basic.username': 'ada', 'logs.basic.password': 'x' })).to.deep.equal([]);
    }
    expect(blamed({ host: '0.0.0.0' })[0]!.reason).to.include('--allow-open');
  });

  it('name a user and a password together', () => {
    expect(keys({ 'logs.basic.username': 'ada', 'logs.basic.password': 'x' })).to.deep.equal([]);
    expect(blamed({ 'logs.basic.username': 'ada' })).to.deep.equal([
      { key: 'logs.basic.password', reason: 'must be set together with logs.basic.username' },
    ]);
    expect(blamed({ 'logs.basic.password': 'x' })).to.deep.equal([
      { key: 'logs.basic.username', reason: 'must be set together with logs.basic.password' },
    ]);
  });

  it('name no user that basic authentication cannot', () => {
    expect(blamed({ 'logs.basic.username': 'a:b', 'logs.basic.password': 'x' })).to.deep.equal([
      { key: 'logs.basic.username', reason: 'must not contain a colon' },
    ]);
  });

  it('give a token to one producer only, and none that is more than a producer', () => {
    const producers = (...given: [id: string, token: string][]) => ({
      'logs.producers': given.map(([id, token]) => ({ id, token })),
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
