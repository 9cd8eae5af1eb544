/** Parsing of hits: short plain values without query strings, fragments, full referrers or unlisted properties. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Payload, parsePath, parseVisit } from '../../../domain/analytics/hit.js';
import { matchesDomain, parseHost, parseReferrer, parseSiteId } from '../../../domain/analytics/site-fields.js';
import { readUrl, truncate } from '../../../domain/shared/index.js';

const visit = (payload: Partial<Payload>, allowed: readonly string[] = [], headers = {}) =>
  parseVisit({ site: 'demo', ...payload }, headers, {
    domains: ['example.com', 'www.shop.test'],
    allowedEventProperties: allowed,
  });
const hit = (payload: Partial<Payload>, allowed: readonly string[] = []) => visit(payload, allowed)?.hit;

describe('the kind of a hit', () => {
  it('is the given one, or else an event if named, or else a page view', () => {
    expect(visit({ kind: 'pageview', event: 'signup' })?.kind).to.equal('pageview');
    expect(visit({ event: 'signup' })?.kind).to.equal('event');
    expect(visit({})?.kind).to.equal('pageview');
    expect(visit({ event: '  ' })?.kind).to.equal('pageview');
  });

  it('drops the event name of a page view', () => {
    expect(hit({ kind: 'pageview', event: 'signup' })).to.deep.equal({ path: '/' });
  });

  it('is undefined for an event without a usable name', () => {
    expect(visit({ kind: 'event' })).to.equal(undefined);
    expect(visit({ kind: 'event', event: ' \n\u0000' })).to.equal(undefined);
    expect(visit({ kind: 'event', event: '\u200B\uFEFF \u2060' })).to.equal(undefined);
    expect(visit({ kind: 'event', event: '👩\u200D💻' })?.hit.event).to.equal('👩\u200D💻');
  });

  it('trims and truncates the event name', () => {
    expect(hit({ event: '  Sign up ' })?.event).to.equal('Sign up');
    expect(hit({ event: 'x'.repeat(81) })?.event).to.equal('x'.repeat(80));
    expect(hit({ event: '👋'.repeat(81) })?.event).to.equal('👋'.repeat(80));
  });
});

describe('the path of a hit', () => {
  for (const [input, expected] of [
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
    it(`of ${JSON.stringify(input)} is ${expected}`, () => expect(parsePath(input)).to.equal(expected));
  }

  it('is truncated to 300 whole characters', () => {
    expect(parsePath(`/${'a'.repeat(400)}`)).to.have.lengthOf(300);
    expect([...parsePath(`/${'👋'.repeat(400)}`)]).to.have.lengthOf(300);
  });

  it('starts with a slash, without query, fragment or double slash, for any input', () => {
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

describe('the host of a hit', () => {
  for (const [input, host] of [
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
    it(`of ${JSON.stringify(input)} is ${host}`, () => expect(parseHost(input)).to.equal(host));
  }

  it('is parsed alike on every call', () => {
    const hosts = Array.from({ length: 20_000 }, () => parseHost('ü.de'));
    expect([...new Set(hosts)]).to.deep.equal(['xn--tda.de']);
  });

  it('equals the host name of the URL parser', () => {
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

  it('comes from the payload, its path, the Origin header or the Referer header, in this order', () => {
    const headers = { origin: 'https://o.example', referer: 'https://r.example/x' };
    expect(visit({ host: 'H.example:1', path: 'https://p.example/' }, [], headers)?.host).to.equal('h.example');
    expect(visit({ path: 'https://p.example/' }, [], headers)?.host).to.equal('p.example');
    expect(visit({ path: '/p.example' }, [], headers)?.host).to.equal('o.example');
    expect(visit({}, [], { referer: headers.referer })?.host).to.equal('r.example');
    expect(visit({}, [], { origin: 'null' })?.host).to.equal(undefined);
  });

  it('matches a domain of the site or a subdomain of it', () => {
    const domains = ['example.com'];
    expect(matchesDomain(domains, 'example.com')).to.equal(true);
    expect(matchesDomain(domains, 'www.shop.example.com')).to.equal(true);
    expect(matchesDomain(domains, 'notexample.com')).to.equal(false);
    expect(matchesDomain(domains, 'example.com.evil.test')).to.equal(false);
    expect(matchesDomain([], 'example.com')).to.equal(false);
  });
});

describe('the referrer of a hit', () => {
  for (const [input, expected] of [
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
    it(`of ${JSON.stringify(input)} is ${expected}`, () =>
      expect(parseReferrer(input, 'example.com')).to.equal(expected));
  }

  it('is dropped for domains of the site and their subdomains', () => {
    for (const own of ['example.com', 'blog.example.com', 'a.b.example.com:8443', 'shop.test', 'www.shop.test'])
      expect(hit({ host: 'other.test', referrer: `https://${own}/` }), own).not.to.have.property('referrer');
    for (const other of ['notexample.com', 'example.com.evil.test'])
      expect(hit({ referrer: `https://${other}/` })?.referrer).to.equal(`https://${other}`);
  });

  it('of an own host marks a page view as internal, and nothing else does', () => {
    const from = (referrer: string, more = {}) => hit({ host: 'example.com', referrer, ...more })?.isInternal;
    for (const own of [
      'https://example.com/a',
      ' HTTPS://www.Example.com ',
      'https://blog.example.com',
      'https://shop.test:8/',
    ])
      expect(from(own), own).to.equal(true);
    for (const other of ['', 'news', '/a', 'about:blank', 'https://news.example', 'https://example.com.evil.test'])
      expect(from(other), other).to.equal(undefined);
    expect(from('https://example.com/a', { event: 'Buy' })).to.equal(undefined);
    expect(hit({ host: 'other.test', referrer: 'https://other.test' })?.isInternal).to.equal(true);
  });

  it('is truncated to 180 characters', () => {
    const referrer = `https://${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(30)}.example`;
    expect(hit({ referrer })?.referrer).to.have.lengthOf(180);
  });
});

describe('the campaign of a hit', () => {
  it('has three values, each truncated to 120 characters', () => {
    const campaign = { utm_source: ' news ', utm_medium: 'm'.repeat(121) };
    expect(hit({ campaign })?.campaign).to.deep.equal({
      source: 'news',
      medium: 'm'.repeat(120),
      campaign: '',
    });
  });

  it('is dropped if all values are blank', () => {
    expect(hit({ campaign: { utm_source: ' ' } })).not.to.have.property('campaign');
  });
});

describe('the properties of an event', () => {
  const properties = { plan: 'pro', seats: 3, trial: true, card: '4111', nested: { a: 1 }, none: null };

  it('are those on the allow list, if they are strings, numbers or booleans', () => {
    expect(
      hit({ event: 'buy', properties }, ['trial', 'plan', 'seats', 'nested', 'none', 'other'])?.properties,
    ).to.deep.equal([
      { name: 'trial', value: true },
      { name: 'plan', value: 'pro' },
      { name: 'seats', value: 3 },
    ]);
  });

  it('are dropped without an allow list, and for page views', () => {
    expect(hit({ event: 'buy', properties })).not.to.have.property('properties');
    expect(hit({ properties }, ['plan'])).not.to.have.property('properties');
  });

  it('are limited to 20, with strings of 120 characters', () => {
    const names = Array.from({ length: 30 }, (_, index) => `p${index}`);
    const many = Object.fromEntries(names.map((name) => [name, 'x'.repeat(200)]));
    const expected = hit({ event: 'buy', properties: many }, names)?.properties;
    expect(expected).to.have.lengthOf(20);
    expect(expected?.[0]).to.deep.equal({ name: 'p0', value: 'x'.repeat(120) });
  });

  it('do not include inherited properties', () => {
    const input = JSON.parse('{"__proto__": "own"}');
    expect(hit({ event: 'buy', properties: input }, ['constructor', 'toString'])).not.to.have.property('properties');
    expect(hit({ event: 'buy', properties: input }, ['__proto__'])?.properties).to.deep.equal([
      { name: '__proto__', value: 'own' },
    ]);
  });

  it('do not include infinite numbers', () => {
    expect(hit({ event: 'buy', properties: JSON.parse('{"n": 1e400}') }, ['n'])).not.to.have.property('properties');
  });
});

describe('the memory of parsed values', () => {
  const [LONG, TIMES] = [30_000, 200];
  const gc = () => {
    setFlagsFromString('--expose-gc');
    (runInNewContext('gc') as () => void)();
  };
  /** A string as parsed from a request body, with its own buffer. */
  const parsed = (text: string): string => JSON.parse(JSON.stringify(text));
  const long = (text: string) => parsed(text.padEnd(LONG, 'x'));
  const blank = (text: string) => parsed(text.padEnd(LONG));
  const expected = (n: number) => [
    hit({ event: blank(`event number ${n}`) }),
    visit({ host: long(`host-number-${n}.example.com/`) })?.host,
    hit({ path: long(`/path/number/${n}?`) }),
    hit({ referrer: long(`https://host-${n}.example/`) }),
    hit({ campaign: { utm_source: blank(`source number ${n}`) } }),
    hit({ event: 'e', properties: { plan: blank(`plan number ${n}`) } }, ['plan']),
    parseSiteId(blank(`site-of-number-${n}`)),
    truncate(long(`text of number ${n}`), 100),
  ];

  it('does not retain the long strings they were cut from', () => {
    gc();
    const before = process.memoryUsage().heapUsed;
    const all = Array.from({ length: TIMES }, (_, n) => expected(n));
    gc();
    // If even one kind of value retained its source, the memory would be twice the bound.
    expect(process.memoryUsage().heapUsed - before).to.be.below((TIMES * LONG) / 2);
    expect(all.flat()).not.to.include(undefined);
  });
});
