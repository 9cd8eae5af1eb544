/** CORS headers: what a page of another origin may send to a service and read of its answers. */
import { expect } from 'chai';
import { logsPolicy } from '../../adapters/http/logs/policy.js';
import { roomsPolicy } from '../../adapters/http/rooms/policy.js';
import { openapi } from '../../adapters/http/server/openapi.js';
import type { Route } from '../../adapters/http/server/route.js';
import { sendBytes } from '../support/http-spec.js';
import { echo, serveToys } from './toy-http-service.js';

const policies = {
  logs: logsPolicy('1', { open: false, password: true, host: '127.0.0.1' }),
  rooms: roomsPolicy('1', ['*']),
};
const routes: readonly Route[] = [
  echo({ path: '/toys', body: { type: 'object' } }),
  echo({ path: '/toys', method: 'GET' }),
];
const origin = 'https://app.example';

const namesOf = (list: string | null) =>
  (list ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim());

for (const [service, policy] of Object.entries(policies))
  describe(`CORS headers of the ${service}`, () => {
    const document = JSON.parse(JSON.stringify(openapi(policy, routes)));

    it('allow every documented request header, and those to sign in and resume', async () => {
      const toys = await serveToys(routes, policy);
      const { headers } = await toys.ask('/toys', {
        method: 'OPTIONS',
        headers: { origin, 'access-control-request-method': 'POST' },
      });
      await toys.close();
      const documented = (Object.values(document.components.parameters) as { name: string }[]).map(({ name }) =>
        name.toLowerCase(),
      );
      expect(documented).to.include('idempotency-key');
      expect(namesOf(headers.get('access-control-allow-headers'))).to.include.members([
        ...documented,
        'authorization',
        'content-type',
        'last-event-id',
        'traceparent',
      ]);
    });

    it('expose every documented response header, of errors too', async () => {
      const toys = await serveToys(routes, policy);
      const answers = [
        await toys.ask('/toys', { headers: { origin } }),
        await toys.ask('/none', { headers: { origin } }),
      ];
      await toys.close();
      // The browser handles the challenge itself.
      const documented = Object.keys(document.components.headers).filter((name) => name !== 'WWW-Authenticate');
      expect(documented).to.include('Consistency');
      for (const { headers } of answers)
        expect(namesOf(headers.get('access-control-expose-headers'))).to.include.members(
          documented.map((name) => name.toLowerCase()),
        );
    });

    it('come with headers that forbid caching and sniffing', async () => {
      const toys = await serveToys(routes, policy);
      for (const path of ['/toys', '/none']) {
        const { headers } = await toys.ask(path);
        expect(headers.get('cache-control'), path).to.equal('no-store');
        expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
      }
      await toys.close();
    });
  });

describe('request header that is too large', () => {
  it('is rejected by the rooms service with its own error code', async () => {
    const toys = await serveToys(routes, policies.rooms);
    const answer = await sendBytes(toys.url, `GET / HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`);
    await toys.close();
    expect(JSON.parse(answer.split('\r\n\r\n')[1] ?? '')).to.include({ code: 'HEADER_TOO_LARGE' });
  });
});
