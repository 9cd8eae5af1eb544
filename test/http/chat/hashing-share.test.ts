/** Fairness of password hashing: sign-ins from one network do not starve others. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { passwordRoutes } from '../../../adapters/http/chat/sign-in.js';
import { createRateLimit } from '../../../adapters/http/server/client-network.js';
import type { Request } from '../../../adapters/http/server/route.js';
import { createBudget } from '../../../application/concurrency/limiters.js';
import type { CommandContext } from '../../../application/ports/index.js';

describe('concurrent password hashing', () => {
  const paths = ['/auth/password-login', '/auth/register', '/auth/setup-password'];

  for (const path of paths)
    it(`gives one network at most two thirds of the budget: ${path}`, async () => {
      const pending: (() => void)[] = [];
      const wait = () =>
        new Promise<{ body: object; position: bigint }>((resolve) => {
          pending.push(() => resolve({ body: {}, position: 1n }));
        });
      const routes = passwordRoutes({
        passwords: { login: wait, register: wait, setup: wait, reset: wait } as never,
        links: {} as never,
        linksPerNetwork: createRateLimit(1, 1000),
        registersPerNetwork: createRateLimit(1, 1000),
        hashing: createBudget('passwords', 12),
        isOpen: true,
      });
      const { handle } = routes.find((each) => each.path === path)!;
      const context = () => ({}) as CommandContext;
      const ask = (address: string) =>
        handle({ address, headers: {}, body: {}, context } as unknown as Request<never, never>, undefined);

      const flood = Array.from({ length: 20 }, () => ask('192.0.2.1'));
      const untilPending = (count: number) => eventually(() => pending.length === count);
      for (const refused of await Promise.all(flood.slice(8)))
        expect(refused).to.include({ problem: 429 }).and.to.have.property('retryAfterMs');
      await untilPending(4);
      const other = ask('198.51.100.1');
      // One queued request of the first network goes before it, then the networks alternate.
      for (const [n, done] of pending.slice(0, 2).entries()) {
        done();
        await untilPending(5 + n);
      }
      pending.at(-1)!();
      expect(await other).to.include({ position: 1n });
      for (let n = 0; n < 9; n++) {
        await eventually(() => pending.length > n);
        pending[n]!();
      }
      for (const each of await Promise.all(flood.slice(0, 8))) expect(each).to.include({ position: 1n });
    });
});
