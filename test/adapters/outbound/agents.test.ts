/** User agents: browser, system, device type and bots. */
import { expect } from 'chai';
import { createUserAgentParser } from '../../../adapters/outbound/user-agent-parser.js';

const KNOWN: readonly (readonly [agent: string, browser?: string, os?: string, device?: string])[] = [
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0',
    'Microsoft Edge',
    'Windows',
    'desktop',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Safari/605.1.15',
    'Safari',
    'macOS',
    'desktop',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1',
    'Safari',
    'iOS',
    'mobile',
  ],
  [
    'Mozilla/5.0 (iPad; CPU OS 16_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/16.0 Safari/604.1',
    'Safari',
    'iOS',
    'tablet',
  ],
  [
    'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36',
    'Chrome',
    'Android',
    'mobile',
  ],
  [
    'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    'Chrome',
    'Chrome OS',
    'desktop',
  ],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox', 'Linux', 'desktop'],
  [''],
  ['  '],
];
const BOTS = [
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
  'curl/8.0',
  'python-requests/2.32',
];

describe('user agents', () => {
  const agents = createUserAgentParser();

  for (const [agent, browser, os, device] of KNOWN)
    it(`are parsed as ${browser} on ${os} (${device})`, () => {
      const expected = { ...(browser && { browser }), ...(os && { os }), ...(device && { device }) };
      expect(agents.read(agent)).to.deep.equal(expected);
      expect(agents.read(agent), 'once more').to.deep.equal(expected);
    });

  it('yield no custom browser name, which might identify a person', () => {
    for (const own of ['Desk ada@example.com/1.0 (Linux)', 'ada@example.com/1 x', 'Desk/9 a/b/c d'])
      expect(agents.read(own), own).not.to.have.property('browser');
    expect(agents.read('Mozilla/5.0 Opera Touch/3.4 OPT/3.4').browser).to.be.oneOf(['Opera Touch', 'Opera']);
  });

  it('are classified as bots or browsers', () => {
    for (const bot of BOTS) expect(agents.isBot(bot), bot).to.equal(true);
    for (const [agent, browser] of KNOWN) if (browser) expect(agents.isBot(agent), agent).to.equal(false);
  });

  it('are cached in bounded memory', () => {
    const some = createUserAgentParser(50_000);
    for (let n = 0; n < 2000; n++) {
      some.read(`Agent ${n} ${'x'.repeat(n % 400)}`);
      some.isBot(`Agent ${n}`);
    }
    expect(some.cache.bytes()).to.be.within(10_000, some.cache.limitBytes);
  });
});
