/** The load that benchmarks put on analytics: visitors of a site and the hits their pages send. */
import type { Request } from './load.js';

export const TOKEN = 'an-admin-token-for-benches';
/** Visitors are distinguished by the address in a proxy's header. */
export const HIT_FLAGS = [
  '--analytics-admin-token',
  TOKEN,
  '--server-trusted-proxies',
  '127.0.0.1',
  '--log-level',
  'info',
];
const SITE = 'bench';
const PAGES = 400;
const VISITORS = 20_000;

const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };

export async function makeSite(base: string): Promise<void> {
  const body = JSON.stringify({ id: SITE, domains: ['example.com'], allowedEventProperties: ['plan'] });
  const { status } = await fetch(`${base}/api/sites`, { method: 'POST', headers, body });
  if (status !== 201 && status !== 400) throw new Error(`a site was answered ${status}`);
}

export const reportPath = (days: number) => `/api/report?site=${SITE}&days=${days}`;
export const asAdmin = headers;

const SYSTEMS = ['Windows NT 10.0; Win64; x64', 'X11; Linux x86_64', 'Macintosh; Intel Mac OS X 10_15_7'];
const agent = (n: number) => {
  const version = 100 + (n % 40);
  return `Mozilla/5.0 (${SYSTEMS[n % 3]}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version}.0.0.0 Safari/537.36`;
};

/** Every tenth hit is an event, every fourth has an external referrer, every eighth a campaign. */
function payload(n: number) {
  return {
    site: SITE,
    host: 'example.com',
    path: `/articles/${(n * 7919) % PAGES}`,
    ...(n % 10 === 0 && { event: 'signup', properties: { plan: ['free', 'pro', 'team'][n % 3] } }),
    ...(n % 4 === 0 && { referrer: `https://news-${n % 37}.example/item?id=${n}` }),
    ...(n % 8 === 0 && {
      campaign: { utm_source: 'letter', utm_medium: 'mail', utm_campaign: `week-${n % 9}` },
    }),
  };
}

/** Requests with `size` hits each; a single hit is sent without a list. */
export function hits(size: number): () => Request {
  let next = 0;
  return () => {
    const from = next;
    next += size;
    const visitor = (from / size) % VISITORS;
    const body = size === 1 ? payload(from) : Array.from({ length: size }, (_, n) => payload(from + n));
    return {
      method: 'POST',
      path: '/api/collect',
      headers: {
        'content-type': 'text/plain;charset=UTF-8',
        origin: 'https://example.com',
        'user-agent': agent(visitor),
        'x-forwarded-for': `198.${18 + (visitor >> 16)}.${(visitor >> 8) & 255}.${visitor & 255}`,
      },
      body: JSON.stringify(body),
    };
  };
}
