/** What the same command again costs: nothing more, on two nodes or where nothing came of it. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { UnavailableError } from '../../../application/ports/index.js';
import type { Rejection } from '../../../domain/shared/decider.js';
import { done } from './node.js';
import { fails, keyed, newcomer, useTwoNodes } from './two-nodes.js';

describe('the same command again', function () {
  this.timeout(120_000);
  const nodes = useTwoNodes();

  it('spends no quota', async () => {
    let left = 2;
    const tooMany: Rejection = { rejected: 'rooms/too-many-rooms', kind: 'limit', retryAfterMs: 1000 };
    const quota = {
      spend: async () => (left-- > 0 ? undefined : tooMany),
      refund: async () => void left++,
    };
    const create = (key: string) => nodes.one.commands.create(newcomer('Ada'), 60_000, { ...keyed(key, 'x'), quota });
    const keys = [randomUUID(), randomUUID()];
    const first = done(await create(keys[0]!));
    done(await create(keys[1]!));
    expect(await create(randomUUID())).to.equal(tooMany);
    expect(await create(keys[0]!)).to.deep.equal(first);
  });

  it('is told what it was told by another node, by one that has none left', async () => {
    const tooMany: Rejection = { rejected: 'rooms/too-many-rooms', kind: 'limit', retryAfterMs: 1000 };
    const none = { spend: async () => tooMany, refund: async () => {} };
    const key = randomUUID();
    const first = done(await nodes.other.commands.create(newcomer('Ada'), 60_000, keyed(key, 'x')));
    const again = (body: string) =>
      nodes.one.commands.create(newcomer('Ada'), 60_000, { ...keyed(key, body), quota: none });
    expect(await again('x')).to.deep.equal(first);
    expect(await again('y')).to.include({ rejected: 'rooms/idempotency-key-reused' });
  });

  for (const [whose, bodies] of [
    ['the same', ['x', 'x']],
    ['with another body', ['x', 'y']],
  ] as const) {
    it(`spends no quota where two nodes are sent it at once, ${whose}`, async () => {
      let spent = 0;
      let asked = 0;
      const quota = {
        async spend() {
          [spent, asked] = [spent + 1, asked + 1];
          return undefined;
        },
        refund: async () => void spent--,
      };
      const key = randomUUID();
      nodes.awaitAppends(2);
      await Promise.all(
        [nodes.one, nodes.other].map(({ commands }, at) =>
          commands.create(newcomer('Ada'), 60_000, { ...keyed(key, bodies[at]!), quota }),
        ),
      );
      expect([asked, spent]).to.deep.equal([2, 1]);
    });
  }

  it('spends no quota where nothing came of it', async () => {
    let spent = 0;
    const quota = {
      async spend() {
        spent++;
        return undefined;
      },
      refund: async () => void spent--,
    };
    nodes.retained.push(...Array.from({ length: 20 }, () => fails));
    const create = () =>
      nodes.one.commands
        .create(newcomer('Ada'), 60_000, { ...keyed(randomUUID(), 'x'), quota })
        .catch((error) => error);
    expect(await create()).to.be.instanceOf(UnavailableError);
    expect(spent).to.equal(0);
    nodes.retained.splice(0, nodes.retained.length, fails);
    done(await create());
    expect(spent).to.equal(1);
  });
});
