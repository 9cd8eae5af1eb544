/** What is kept of a visit: short and plain, without queries, fragments, full referrers or unlisted properties. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Payload, parsePath, parseVisit } from '../../../domain/analytics/hit.js';
import { matchesDomain, parseHost, parseReferrer } from '../../../domain/analytics/host.js';
import { parseSiteId } from '../../../domain/analytics/site-fields.js';
import { readUrl, truncate } from '../../../domain/shared/index.js';

const visit = (payload: Partial<Payload>, allowed: readonly string[] = [], whence = {}) =>
  parseVisit({ site: 'demo', ...payload }, whence, {
    domains: ['example.com', 'www.shop.test'],
    allowedEventProperties: allowed,
  });
const hit = (payload: Partial<Payload>, allowed: readonly string[] = []) => visit(payload, allowed)?.hit;

describe('the kind of a visit', () => {
  it('is what it says, or an event when it names one, else a page view', () => {
    expect(visit({ kind: 'pageview', event: 'signup' })?.kind).to.equal('pageview');
    expect(visit({ event: 'signup' })?.kind).to.equal('event');
    expect(visit({})?.kind).to.equal('pageview');
    expect(visit({ event: '  ' })?.kind).to.equal('pageview');
  });

  it('keeps no event name of a page view', () => {
    expect(hit({ kind: 'pageview', event: 'signup' })).to.deep.equal({ path: '/' });
  });

  it('is none where an event has no usable name', () => {
    expect(visit({ kind: 'event' })).to.equal(undefined);
    expect(visit({ kind: 'event', event: ' \n\u0000' })).to.equal(undefined);
    expect(visit({ kind: 'event', event: '\u200B\uFEFF \u2060' })).to.equal(undefined);
    expect(visit({ kind: 'event', event: '👩\u200D💻' })?.hit.event).to.equal('👩\u200D💻');
  });

  it('trims and cuts the name of an event', () => {
    expect(hit({ event: '  Sign up ' })?.event).to.equal('Sign up');
    expect(hit({ event: 'x'.repeat(81) })?.event).to.equal('x'.repeat(80));
    expect(hit({ event: '👋'.repeat(81) })?.event).to.equal('👋'.repeat(80));
  });
});

describe('the path of a visit', () => {
  for (const [given, kept] of [
    ['/pricing?plan=pro#top', '/pricing'],
    ['/pricing#top?x', '/pricing'],
    ['pricing', '/pricing'],
    ['', '/'],
    ['?token=secret', '/'],
    ['//a///b/', '/a/b/'],
    ['https://shop.example:8080/a//b?x=1', '/a/b'],
    ['https://shop.example', '/'],
    [' https://shop.example/a ', '/a'],
    ['https://shop.example?q', '/'],
    [' /a\u0000b\n ', '/a b'],
    ['/\ud800', '/\ufffd'],
  ] as const) {
    it(`of ${JSON.stringify(given)} is ${kept}`, () => expect(parsePath(given)).to.equal(kept));
  }

  it('is of 300 characters at most, whole ones', () => {
    expect(parsePath(`/${'a'.repeat(400)}`)).to.have.lengthOf(300);
    expect([...parsePath(`/${'👋'.repeat(400)}`)]).to.have.lengthOf(300);
  });

  it('begins with a slash and has no query, fragment or doubled slash, whatever comes', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const path = parsePath(text);
        expect(path).to.match(/^\/[^?#]*$/u);
        expect(path).not.to.include('//');
        expect(parsePath(path)).to.equal(path);
      }),
    );
  });
});

describe('the host of a visit', () => {
  for (const [given, host] of [
    ['Example.COM', 'example.com'],
    ['example.com:8080', 'example.com'],
    ['https://example.com/a', 'example.com'],
    ['*.example.com', 'example.com'],
    ['example.com.', 'example.com'],
    ['münchen.example', 'xn--mnchen-3ya.example'],
    ['user:pass@example.com', 'example.com'],
    ['localhost:3000', 'localhost'],
    ['[::1]:80', '[::1]'],
    ['', undefined],
    ['/path', undefined],
    ['exa mple.com', undefined],
    ['javascript:alert(1)', undefined],
  ] as const) {
    it(`of ${JSON.stringify(given)} is ${host}`, () => expect(parseHost(given)).to.equal(host));
  }

  it('is the same however often it is asked for', () => {
    const hosts = Array.from({ length: 20_000 }, () => parseHost('ü.de'));
    expect([...new Set(hosts)]).to.deep.equal(['xn--tda.de']);
  });

  it('is what a URL makes of it, however plain it looks', () => {
    const letters = fc.constantFrom(...'abx019n-.'.split(''), 'xn--', '0x', '.1');
    const written = fc.array(letters, { maxLength: 12 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(written, fc.constantFrom('', '/a', ':80', '?q', '#f'), (name, rest) => {
        fc.pre(name !== '' && !name.startsWith('.') && !name.endsWith('.') && !name.includes('..'));
        const url = `http://${name}${rest}`;
        expect(parseHost(name + rest)).to.equal(readUrl(url)?.hostname);
      }),
      { numRuns: 2000 },
    );
  });

  it('is that of the payload, else of its path, of the Origin, of the Referer', () => {
    const whence = { origin: 'https://o.example', referer: 'https://r.example/x' };
    expect(visit({ host: 'H.example:1', path: 'https://p.example/' }, [], whence)?.host).to.equal('h.example');
    expect(visit({ path: 'https://p.example/' }, [], whence)?.host).to.equal('p.example');
    expect(visit({ path: '/p.example' }, [], whence)?.host).to.equal('o.example');
    expect(visit({}, [], { referer: whence.referer })?.host).to.equal('r.example');
    expect(visit({}, [], { origin: 'null' })?.host).to.equal(undefined);
  });

  it('is within a domain of a site when it is the domain or below it', () => {
    const domains = ['example.com'];
    expect(matchesDomain(domains, 'example.com')).to.equal(true);
    expect(matchesDomain(domains, 'www.shop.example.com')).to.equal(true);
    expect(matchesDomain(domains, 'notexample.com')).to.equal(false);
    expect(matchesDomain(domains, 'example.com.evil.test')).to.equal(false);
    expect(matchesDomain([], 'example.com')).to.equal(false);
  });
});

describe('the referrer of a visit', () => {
  for (const [given, kept] of [
    ['https://www.News.example/article?id=1#x', 'https://news.example'],
    ['https://news.example:8443/', 'https://news.example:8443'],
    ['https://news.example:443/', 'https://news.example'],
    ['https://ann:secret@news.example/', 'https://news.example'],
    ['android-app://com.example.reader/', 'android-app://com.example.reader'],
    ['https://example.com/other', undefined],
    ['https://www.example.com/other', undefined],
    ['', undefined],
    ['news', undefined],
    ['about:blank', undefined],
  ] as const) {
    it(`of ${JSON.stringify(given)} is ${kept}`, () => expect(parseReferrer(given, 'example.com')).to.equal(kept));
  }

  it('is none of the own domains, nor below them', () => {
    for (const own of ['example.com', 'blog.example.com', 'a.b.example.com:8443', 'shop.test', 'www.shop.test'])
      expect(hit({ host: 'other.test', referrer: `https://${own}/` }), own).not.to.have.property('referrer');
    for (const other of ['notexample.com', 'example.com.evil.test'])
      expect(hit({ referrer: `https://${other}/` })?.referrer).to.equal(`https://${other}`);
  });

  it('is of 180 characters at most', () => {
    const referrer = `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(30)}.example`;
    expect(hit({ referrer })?.referrer).to.have.lengthOf(180);
  });
});

describe('the campaign of a visit', () => {
  it('is of three values, cut at 120 characters', () => {
    const campaign = { utm_source: ' news ', utm_medium: 'm'.repeat(121) };
    expect(hit({ campaign })?.campaign).to.deep.equal({
      source: 'news',
      medium: 'm'.repeat(120),
      campaign: '',
    });
  });

  it('is none where all are blank', () => {
    expect(hit({ campaign: { utm_source: ' ' } })).not.to.have.property('campaign');
  });
});

describe('the properties of an event', () => {
  const properties = { plan: 'pro', seats: 3, trial: true, card: '4111', nested: { a: 1 }, none: null };

  it('are those that the site allows, if they are texts, numbers or booleans', () => {
    expect(
      hit({ event: 'buy', properties }, ['trial', 'plan', 'seats', 'nested', 'none', 'other'])?.properties,
    ).to.deep.equal([
      { name: 'trial', value: true },
      { name: 'plan', value: 'pro' },
      { name: 'seats', value: 3 },
    ]);
  });

  it('are none where the site allows none, and of page views', () => {
    expect(hit({ event: 'buy', properties })).not.to.have.property('properties');
    expect(hit({ properties }, ['plan'])).not.to.have.property('properties');
  });

  it('are 20 at most, their texts of 120 characters', () => {
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const many = Object.fromEntries(names.map((name) => [name, 'x'.repeat(200)]));
    const kept = hit({ event: 'buy', properties: many }, names)?.properties;
    expect(kept).to.have.lengthOf(20);
    expect(kept?.[0]).to.deep.equal({ name: 'p0', value: 'x'.repeat(120) });
  });

  it('are never those that every object has', () => {
    const given = JSON.parse('{"__proto__": "own"}');
    expect(hit({ event: 'buy', properties: given }, ['constructor', 'toString'])).not.to.have.property('properties');
    expect(hit({ event: 'buy', properties: given }, ['__proto__'])?.properties).to.deep.equal([
      { name: '__proto__', value: 'own' },
    ]);
  });

  it('are numbers that can be written down', () => {
    expect(hit({ event: 'buy', properties: JSON.parse('{"n": 1e400}') }, ['n'])).not.to.have.property('properties');
  });
});

describe('what is kept of long texts', () => {
  const [LONG, TIMES] = [30_000, 200];
  const gc = () => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
  };
  /** As they come: read from a body, each by itself. */
  const come = (text: string): string => JSON.parse(JSON.stringify(text));
  const long = (text: string) => come(text.padEnd(LONG, 'x'));
  const blank = (text: string) => come(text.padEnd(LONG));
  const kept = (n: number) => [
    hit({ event: blank(`event number ${n}`) }),
    visit({ host: long(`host-number-${n}.example.com/`) })?.host,
    hit({ path: long(`/path/number/${n}?`) }),
    hit({ referrer: long(`https://host-${n}.example/`) }),
    hit({ campaign: { utm_source: blank(`source number ${n}`) } }),
    hit({ event: 'e', properties: { plan: blank(`plan number ${n}`) } }, ['plan']),
    parseSiteId(blank(`site-of-number-${n}`)),
    truncate(long(`text of number ${n}`), 100),
  ];

  it('is not all that they were cut from', () => {
    gc();
    const before = process.memoryUsage().heapUsed;
    const all = Array.from({ length: TIMES }, (_, n) => kept(n));
    gc();
    // Of one kind alone it would be twice as much.
    expect(process.memoryUsage().heapUsed - before).to.be.below((TIMES * LONG) / 2);
    expect(all.flat()).not.to.include(undefined);
  });
});
