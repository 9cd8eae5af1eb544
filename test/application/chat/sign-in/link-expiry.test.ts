/** A one-time link expires at the second in its token, independent of the millisecond of the request. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import { createLinks } from '../../../../application/chat/sign-in/links.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { type ChatEvent, catalog } from '../../../../domain/chat/catalog.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import { NOON } from '../../../support/chat-user-fixtures.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

const EMAIL = 'ada@example.org';
const LIFE = { 'magic-link': 900, reset: 900, invite: 604_800 } as const;

describe('the expiry of a one-time link', () => {
  for (const purpose of ['magic-link', 'reset', 'invite'] as const)
    it(`equals the exp of its token: ${purpose}`, async () => {
      for (const [requestedMs, usedMs, isGood] of [
        [0, 0, true],
        [400, -1, true],
        [400, 0, false],
        [999, -1, true],
        [999, 0, false],
        [999, 999, false],
      ] as const) {
        const kernel = memoryKernel(memoryWorld(), [catalog]);
        const signed = createSignedTokens(randomBytes(32));
        const derivation = createDerivation(randomBytes(32));
        const clock = { time: NOON + requestedMs, now: () => clock.time };
        const links = createLinks({
          ...kernel,
          derivation,
          signed,
          clock,
          admission: { user: async () => ({ id: 'ada' }) } as never,
          isInviteRequired: true,
          magicLinkExpirySeconds: LIFE['magic-link'],
          inviteExpirySeconds: LIFE.invite,
        });
        const done = await links.request(purpose, EMAIL, context(randomUUID()));
        if (isRejection(done)) throw new Error(done.rejected);
        const [event] = (await kernel.log.read(
          `chat.address-${derivation.id('chat.address', EMAIL)}`,
        )) as readonly RecordedEvent<ChatEvent<'LinkRequested'>>[];
        const token = await links.token({ ...event!.data, email: EMAIL });
        const { iat, exp } = (await signed.read(token))!;
        expect(exp - iat).to.equal(LIFE[purpose]);
        // The first link is used in the middle of its life, the others just before and at its expiry.
        clock.time = (requestedMs === 0 ? exp - LIFE[purpose] / 2 : exp) * 1000 + usedMs;
        const link = await links.read(token, [purpose]);
        if (isRejection(link)) throw new Error(link.rejected);
        const spent = await links.spend(link, context(randomUUID()));
        expect(isRejection(spent) ? spent.rejected : 'good', `requested ${requestedMs}, used ${usedMs}`).to.equal(
          isGood ? 'good' : 'chat/bad-link',
        );
      }
    });
});
