/** Hashing a password takes long: however many sign in from one network, others come in between. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { passwordRoutes } from '../../../adapters/http/chat/password.js';
import { createRateLimit } from '../../../adapters/http/server/rate-limit.js';
import type { Request } from '../../../adapters/http/server/route.js';
import { createBudget } from '../../../application/concurrency/fair-share-budget.js';
import type { CommandContext } from '../../../application/ports/index.js';

describe('passwords that are hashed for many at once', () => {
  const paths = ['/auth/password-login', '/auth/register', '/auth/setup-password'];

  for (const path of paths)
    it(`are of one network two thirds at most: ${path}`, async () => {
      const held: (() => void)[] = [];
      const wait = () =>
        new Promise<{ body: object; position: bigint }>((resolve) => {
          held.push(() => resolve({ body: {}, position: 1n }));
        });
      const routes = passwordRoutes({
        passwords: { login: wait, register: wait, setup: wait, reset: wait } as never,
        links: {} as never,
        linksPerNetwork: createRateLimit(1, 1000),
        registersPerNetwork: createRateLimit(1, 1000),
        hashing: createBudget('passwords', 12),
        hasEmail: true,
        isOpen: true,
      });
      const { handle } = routes.find((each) => each.path === path)!;
      const context = () => ({}) as CommandContext;
      const ask = (address: string) =>
        handle({ address, headers: {}, body: {}, context } as unknown as Request<never, never>, undefined);

      const flood = Array.from({ length: 20 }, () => ask('192.0.2.1'));
      const begun = (count: number) => eventually(() => held.length === count);
      for (const refused of await Promise.all(flood.slice(8)))
        expect(refused).to.include({ problem: 429 }).and.to.have.property('retryAfterMs');
      await begun(4);
      const other = ask('198.51.100.1');
      // Of four more who wait one is before them, and one of each network after that.
      for (const [n, done] of held.slice(0, 2).entries()) {
        done();
        await begun(5 + n);
      }
      held.at(-1)!();
      expect(await other).to.include({ position: 1n });
      for (let n = 0; n < 9; n++) {
        await eventually(() => held.length > n);
        held[n]!();
      }
      for (const each of await Promise.all(flood.slice(0, 8))) expect(each).to.include({ position: 1n });
    });
});
