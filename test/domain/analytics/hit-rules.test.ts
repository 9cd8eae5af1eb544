/** Which hits are ignored, and the order of reasons. */

import { expect } from 'chai';
import fc from 'fast-check';
import { type HitOrigin, REASONS, rejectionReason } from '../../../domain/analytics/hit.js';
import type { Site } from '../../../domain/analytics/sites.js';

const site: Site = {
  siteId: 'demo',
  instance: 'one',
  name: 'Demo',
  domains: ['example.com'],
  allowedEventProperties: [],
  goals: [],
  tokenHash: null,
  createdAt: 0,
  updatedAt: 0,
  linkId: null,
};
const hitOrigin: HitOrigin = {
  privacySignal: false,
  host: 'example.com',
  origin: { host: 'example.com' },
  hasToken: () => false,
  isBot: () => false,
};
const reason = (more: Partial<HitOrigin>, of: Partial<Site> = {}) =>
  rejectionReason({ ...site, ...of }, { ...hitOrigin, ...more });

describe('the hit rules', () => {
  it('accept a hit to a page of the site', () => {
    expect(reason({})).to.equal(undefined);
    expect(reason({ host: 'shop.example.com', origin: { host: 'www.example.com' } })).to.equal(undefined);
    expect(reason({ origin: undefined })).to.equal(undefined);
  });

  it('reject an unknown site', () => expect(rejectionReason(undefined, hitOrigin)).to.equal('unknown_site'));

  it('reject a hit with a privacy signal', () => expect(reason({ privacySignal: true })).to.equal('privacy_signal'));

  it('reject a foreign host and a missing host', () => {
    expect(reason({ host: 'evil.test' })).to.equal('host_not_allowed');
    expect(reason({ host: undefined, origin: undefined })).to.equal('host_not_allowed');
  });

  it('trust the Origin header over the payload', () => {
    expect(reason({ origin: { host: 'evil.test' } })).to.equal('host_not_allowed');
    expect(reason({ origin: { host: undefined } })).to.equal('host_not_allowed');
  });

  it('require a token for a site without domains, which then accepts any host', () => {
    expect(reason({}, { domains: [] })).to.equal('host_not_allowed');
    const server = { domains: [], tokenHash: 'hash' };
    expect(reason({ host: undefined, origin: undefined }, server)).to.equal('ingest_token_required');
    expect(reason({ host: undefined, origin: undefined, hasToken: () => true }, server)).to.equal(undefined);
  });

  it('require the token of a site that has one', () => {
    expect(reason({}, { tokenHash: 'hash' })).to.equal('ingest_token_required');
    expect(reason({ hasToken: () => true }, { tokenHash: 'hash' })).to.equal(undefined);
  });

  it('reject bots last', () => expect(reason({ isBot: () => true })).to.equal('bot'));

  it('report the first matching reason in the documented order', () => {
    const flag = fc.boolean();
    fc.assert(
      fc.property(flag, flag, flag, flag, flag, (unknown, signal, foreign, tokenless, bot) => {
        const wrong = [unknown, signal, foreign, tokenless, bot];
        const found = rejectionReason(unknown ? undefined : { ...site, tokenHash: 'hash' }, {
          privacySignal: signal,
          host: foreign ? 'evil.test' : 'example.com',
          origin: undefined,
          hasToken: () => !tokenless,
          isBot: () => bot,
        });
        expect(found).to.equal(REASONS[wrong.indexOf(true)]);
      }),
    );
  });

  it('evaluate costly checks only if needed', () => {
    const notEvaluated = () => expect.fail('was evaluated');
    const costly = { hasToken: notEvaluated, isBot: notEvaluated };
    expect(reason({ privacySignal: true, ...costly })).to.equal('privacy_signal');
    expect(reason({ host: 'evil.test', ...costly }, { tokenHash: 'hash' })).to.equal('host_not_allowed');
    expect(reason({ hasToken: notEvaluated })).to.equal(undefined);
  });
});
