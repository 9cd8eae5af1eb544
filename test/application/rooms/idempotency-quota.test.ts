/** Quotas of repeated commands: paid once, also on two nodes and after failures. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { UnavailableError } from '../../../application/ports/index.js';
import type { Rejection } from '../../../domain/shared/decider.js';
import { done } from './node.js';
import { fails, newcomer, useTwoNodes, withKey } from './two-nodes.js';

describe('the quota of a repeated command', function () {
  this.timeout(120_000);
  const nodes = useTwoNodes();

  it('is not spent again', async () => {
    let remaining = 2;
    const tooMany: Rejection = { rejected: 'rooms/too-many-rooms', kind: 'limit', retryAfterMs: 1000 };
    const quota = {
      spend: async () => (remaining-- > 0 ? undefined : tooMany),
      refund: async () => void remaining++,
    };
    const create = (key: string) => nodes.one.commands.create(newcomer('Ada'), 60_000, { ...withKey(key, 'x'), quota });
    const keys = [randomUUID(), randomUUID()];
    const first = done(await create(keys[0]!));
    done(await create(keys[1]!));
    expect(await create(randomUUID())).to.equal(tooMany);
    expect(await create(keys[0]!)).to.deep.equal(first);
  });

  it('is not needed for the stored answer on another node', async () => {
    const tooMany: Rejection = { rejected: 'rooms/too-many-rooms', kind: 'limit', retryAfterMs: 1000 };
    const none = { spend: async () => tooMany, refund: async () => {} };
    const key = randomUUID();
    const first = done(await nodes.other.commands.create(newcomer('Ada'), 60_000, withKey(key, 'x')));
    const again = (body: string) =>
      nodes.one.commands.create(newcomer('Ada'), 60_000, { ...withKey(key, body), quota: none });
    expect(await again('x')).to.deep.equal(first);
    expect(await again('y')).to.include({ rejected: 'rooms/idempotency-key-reused' });
  });

  for (const [label, bodies] of [
    ['the same', ['x', 'x']],
    ['with another body', ['x', 'y']],
  ] as const) {
    it(`is spent once if two nodes receive it concurrently, ${label}`, async () => {
      let spent = 0;
      let attempts = 0;
      const quota = {
        async spend() {
          [spent, attempts] = [spent + 1, attempts + 1];
          return undefined;
        },
        refund: async () => void spent--,
      };
      const key = randomUUID();
      nodes.awaitAppends(2);
      await Promise.all(
        [nodes.one, nodes.other].map(({ commands }, at) =>
          commands.create(newcomer('Ada'), 60_000, { ...withKey(key, bodies[at]!), quota }),
        ),
      );
      expect([attempts, spent]).to.deep.equal([2, 1]);
    });
  }

  it('is refunded if the command fails', async () => {
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
        .create(newcomer('Ada'), 60_000, { ...withKey(randomUUID(), 'x'), quota })
        .catch((error) => error);
    expect(await create()).to.be.instanceOf(UnavailableError);
    expect(spent).to.equal(0);
    nodes.retained.splice(0, nodes.retained.length, fails);
    done(await create());
    expect(spent).to.equal(1);
  });
});
