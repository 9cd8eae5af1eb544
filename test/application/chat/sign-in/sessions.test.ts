/** Retention of a user's session stream, which is read as a whole before each decision. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import { sessionStream } from '../../../../application/chat/aggregates.js';
import { createAuthentication, createTokens } from '../../../../application/chat/sign-in/authenticate.js';
import { createSessions } from '../../../../application/chat/sign-in/sessions.js';
import { catalog } from '../../../../domain/chat/catalog.js';
import { SESSION_EVENTS } from '../../../../domain/shared/sessions.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

const WEEK = 7 * 86_400;
const ada = { id: 'ada', userName: 'ada', isAdmin: true };
const from = { ip: '192.0.2.1', userAgent: 'a browser' };

describe('the session stream of a user', () => {
  it('gets a retention by count and age, once', async () => {
    const kernel = memoryKernel(memoryWorld(), [catalog]);
    const derivation = createDerivation(randomBytes(32));
    const signed = createSignedTokens(randomBytes(32));
    const tokens = createTokens({ signed, derivation, clock: Date, jwtExpirySeconds: 900 });
    const calls: object[] = [];
    const log = {
      ...kernel.log,
      retain: async (...all: Parameters<typeof kernel.log.retain>) => {
        calls.push(all);
        await kernel.log.retain(...all);
      },
    };
    const sessions = createSessions({
      ...kernel,
      log,
      tokens,
      admission: createAuthentication({ ...kernel, tokens, clock: Date, feedPosition: () => 0n }),
      clock: Date,
      refreshTokenExpirySeconds: WEEK,
      maxActiveSessions: 3,
      sessionQuota: () => ({ spend: async () => undefined, refund: async () => {} }),
    });
    await kernel.vault.create('chat.user-ada');
    for (let n = 0; n < 2; n++) await sessions.open(ada, from, context(randomUUID()));
    const retention = { maxAgeSeconds: WEEK + 86_400, maxCount: SESSION_EVENTS };
    expect(calls, 'once').to.deep.equal([[sessionStream('ada'), retention]]);
  });
});
