/** Which visits are ignored, and the reason that is given where there are several. */

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
  tokenHash: null,
  createdAt: 0,
  updatedAt: 0,
};
const asking: HitOrigin = {
  privacySignal: false,
  host: 'example.com',
  origin: { host: 'example.com' },
  hasToken: () => false,
  isBot: () => false,
};
const reason = (more: Partial<HitOrigin>, of: Partial<Site> = {}) =>
  rejectionReason({ ...site, ...of }, { ...asking, ...more });

describe('the rules of collection', () => {
  it('count a visit to a page of the site', () => {
    expect(reason({})).to.equal(undefined);
    expect(reason({ host: 'shop.example.com', origin: { host: 'www.example.com' } })).to.equal(undefined);
    expect(reason({ origin: undefined })).to.equal(undefined);
  });

  it('know no other sites', () => expect(rejectionReason(undefined, asking)).to.equal('unknown_site'));

  it('honour a privacy signal', () => expect(reason({ privacySignal: true })).to.equal('privacy_signal'));

  it('allow no host of others, and none that is not told', () => {
    expect(reason({ host: 'evil.test' })).to.equal('host_not_allowed');
    expect(reason({ host: undefined, origin: undefined })).to.equal('host_not_allowed');
  });

  it('believe the Origin of a browser, whatever the payload says', () => {
    expect(reason({ origin: { host: 'evil.test' } })).to.equal('host_not_allowed');
    expect(reason({ origin: { host: undefined } })).to.equal('host_not_allowed');
  });

  it('allow a site without domains none, unless it has a token: then any', () => {
    expect(reason({}, { domains: [] })).to.equal('host_not_allowed');
    const server = { domains: [], tokenHash: 'hash' };
    expect(reason({ host: undefined, origin: undefined }, server)).to.equal('ingest_token_required');
    expect(reason({ host: undefined, origin: undefined, hasToken: () => true }, server)).to.equal(undefined);
  });

  it('ask for the token of a site that has one', () => {
    expect(reason({}, { tokenHash: 'hash' })).to.equal('ingest_token_required');
    expect(reason({ hasToken: () => true }, { tokenHash: 'hash' })).to.equal(undefined);
  });

  it('leave out bots last', () => expect(reason({ isBot: () => true })).to.equal('bot'));

  it('give the first reason in the order that is promised', () => {
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

  it('ask nothing that does not matter', () => {
    const unasked = () => expect.fail('was asked');
    const costly = { hasToken: unasked, isBot: unasked };
    expect(reason({ privacySignal: true, ...costly })).to.equal('privacy_signal');
    expect(reason({ host: 'evil.test', ...costly }, { tokenHash: 'hash' })).to.equal('host_not_allowed');
    expect(reason({ hasToken: unasked })).to.equal(undefined);
  });
});
