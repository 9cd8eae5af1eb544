/** What was tried lately at sites: some of it, whatever strangers send. */
import { expect } from 'chai';
import { type Attempt, createAttempts } from '../../../application/analytics/attempts.js';

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

describe('attempts', () => {
  it('are kept by site, newest first', () => {
    const attempts = createAttempts();
    for (const path of ['/a', '/b']) attempts.note(attempt('demo', path));
    attempts.note(attempt('other'));
    expect(attempts.of('demo').map(({ path }) => path)).to.deep.equal(['/b', '/a']);
    expect(attempts.of('nobody')).to.deep.equal([]);
  });

  it('are the newest 50 of a site, whose room is theirs alone', () => {
    const attempts = createAttempts();
    for (let n = 0; n < 500; n++) attempts.note(attempt('demo', `/${n}${'x'.repeat(n < 400 ? 200 : 0)}`));
    expect(attempts.of('demo').map(({ path }) => path)).to.deep.equal(
      Array.from({ length: 50 }, (_, n) => `/${499 - n}`),
    );
    const anew = createAttempts();
    for (const { path } of attempts.of('demo').toReversed()) anew.note(attempt('demo', path ?? ''));
    expect(attempts.cache.bytes()).to.equal(anew.cache.bytes());
  });

  it('take no more memory than they may, of however many sites that there are not', () => {
    const attempts = createAttempts(100_000);
    attempts.note(attempt('first'));
    for (let n = 0; n < 5000; n++) attempts.note(attempt(`flood-${n}`, `/${'x'.repeat(n % 300)}`));
    expect(attempts.cache.bytes()).to.be.within(25_000, 100_000);
    expect(attempts.of('first')).to.deep.equal([]);
    expect(attempts.of('flood-4999')).to.have.lengthOf(1);
  });

  it('stay, of sites that there are, whatever ids strangers make up', () => {
    const attempts = createAttempts(100_000);
    attempts.note(attempt('demo', '/counted', null));
    for (let n = 0; n < 5000; n++) attempts.note(attempt(`flood-${n}`));
    expect(attempts.of('demo').map(({ path }) => path)).to.deep.equal(['/counted']);
  });

  it('of an id that was no site before are told with those', () => {
    const attempts = createAttempts();
    for (let n = 0; n < 40; n++) attempts.note(attempt('late', `/${n}`));
    for (let n = 40; n < 60; n++) attempts.note(attempt('late', `/${n}`, null));
    expect(attempts.of('late').map(({ path }) => path)).to.deep.equal(
      Array.from({ length: 50 }, (_, n) => `/${59 - n}`),
    );
  });
});
