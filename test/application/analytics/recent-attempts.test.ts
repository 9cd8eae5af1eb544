/** Recent attempts to record hits, bounded against floods of made-up site ids. */
import { expect } from 'chai';
import { type Attempt, createRecentAttempts } from '../../../application/analytics/validate-hits.js';

const attempt = (siteId: string, path = '/', reason: Attempt['reason'] = 'unknown_site'): Attempt => ({
  accepted: reason === null,
  reason,
  siteId,
  host: 'example.com',
  path,
  kind: 'pageview',
  eventName: null,
  timestamp: '2026-11-22T12:00:00.000Z',
});

describe('recent attempts', () => {
  it('lists attempts per site, newest first', () => {
    const attempts = createRecentAttempts();
    for (const path of ['/a', '/b']) attempts.record(attempt('demo', path), undefined);
    attempts.record(attempt('other'), undefined);
    expect(attempts.list('demo', undefined).map(({ path }) => path)).to.deep.equal(['/b', '/a']);
    expect(attempts.list('nobody', undefined)).to.deep.equal([]);
  });

  it('keeps the newest 50 attempts of a site and frees the memory of the rest', () => {
    const attempts = createRecentAttempts();
    for (let n = 0; n < 500; n++) attempts.record(attempt('demo', `/${n}${'x'.repeat(n < 400 ? 200 : 0)}`), undefined);
    expect(attempts.list('demo', undefined).map(({ path }) => path)).to.deep.equal(
      Array.from({ length: 50 }, (_, n) => `/${499 - n}`),
    );
    const anew = createRecentAttempts();
    for (const { path } of attempts.list('demo', undefined).toReversed())
      anew.record(attempt('demo', path ?? ''), undefined);
    expect(attempts.cache.bytes()).to.equal(anew.cache.bytes());
  });

  it('bounds its memory under attempts for many unknown sites', () => {
    const attempts = createRecentAttempts(100_000);
    attempts.record(attempt('first'), undefined);
    for (let n = 0; n < 5000; n++) attempts.record(attempt(`flood-${n}`, `/${'x'.repeat(n % 300)}`), undefined);
    expect(attempts.cache.bytes()).to.be.within(25_000, 100_000);
    expect(attempts.list('first', undefined)).to.deep.equal([]);
    expect(attempts.list('flood-4999', undefined)).to.have.lengthOf(1);
  });

  it('keeps the attempts of known sites under a flood of unknown ids', () => {
    const attempts = createRecentAttempts(100_000);
    attempts.record(attempt('demo', '/counted', null), 'one');
    for (let n = 0; n < 5000; n++) attempts.record(attempt(`flood-${n}`), undefined);
    expect(attempts.list('demo', 'one').map(({ path }) => path)).to.deep.equal(['/counted']);
  });

  it('forgets a deleted site, and starts empty for a new site with its id', () => {
    const attempts = createRecentAttempts();
    const none = attempts.cache.bytes();
    for (const [instance, path] of [
      ['one', '/former'],
      ['two', '/present'],
    ] as const)
      attempts.record(attempt('demo', path, null), instance);
    expect(attempts.list('demo', 'two').map(({ path }) => path)).to.deep.equal(['/present']);
    expect(attempts.list('demo', undefined)).to.deep.equal([]);
    for (const instance of ['one', 'two']) attempts.forget(instance);
    expect(attempts.cache.bytes()).to.equal(none);
  });
});
