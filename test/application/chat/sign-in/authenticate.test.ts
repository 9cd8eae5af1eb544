/** Authentication on a node with a lagging live feed: it decides on the log. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import { rosterAggregate, sessionAggregate, sessionStream } from '../../../../application/chat/aggregates.js';
import { createAuthentication, createTokens } from '../../../../application/chat/sign-in/authenticate.js';
import { catalog } from '../../../../domain/chat/catalog.js';
import type { SessionSecret } from '../../../../domain/chat/events/sign-in.js';
import { ROSTER, type RosterCommand } from '../../../../domain/chat/roster.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import type { SessionCommand } from '../../../../domain/shared/sessions.js';
import { NOON, newcomer, open } from '../../../support/chat-user-fixtures.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

const clock = { now: () => NOON };
const ada = { id: 'ada', userName: 'ada', isAdmin: true };

async function twoNodes() {
  const world = memoryWorld();
  const [one, other] = [memoryKernel(world, [catalog]), memoryKernel(world, [catalog])];
  const derivation = createDerivation(randomBytes(32));
  const signed = createSignedTokens(randomBytes(32));
  const tokens = createTokens({ signed, derivation, clock, jwtExpirySeconds: 900 });
  const admission = createAuthentication({ aggregates: other.aggregates, tokens, clock, feedPosition: () => 0n });
  const run = async (command: SessionCommand<SessionSecret>) => {
    const done = await one.handle(sessionAggregate, sessionStream('ada'), command, context(randomUUID()));
    if (isRejection(done)) throw new Error(done.rejected);
    return done;
  };
  await one.vault.create('chat.user-ada');
  const admit: RosterCommand = { type: 'AddUser', isAdmin: true, how: 'initial', ...newcomer('ada') };
  await one.handle(rosterAggregate, ROSTER, admit, context(randomUUID()));
  const sign = async (sessionId: string) => {
    await run(open(sessionId));
    const session = { id: sessionId, generation: 0, lastUsedAt: NOON, expiresAt: NOON + 900_000 };
    return (await tokens.issue(ada, session)).accessToken;
  };
  return { one, admission, sign, run };
}

describe('authentication in the chat', () => {
  it('accepts a session opened on another node and applies a role or name changed there', async () => {
    const { one, admission, sign } = await twoNodes();
    expect(await admission.authenticate(await sign('first'))).to.include({
      userId: 'ada',
      sessionId: 'first',
      isAdmin: true,
    });
    expect(await admission.authenticate(await sign('second'))).to.include({ sessionId: 'second' });
    const renamed = { type: 'RenameUser' as const, userId: 'ada', userName: 'Ada L.', now: NOON };
    const done = await one.handle(rosterAggregate, ROSTER, renamed, context(randomUUID()));
    if (isRejection(done)) throw new Error(done.rejected);
    expect(await admission.authenticate(await sign('third'), done.position)).to.include({
      userName: 'Ada L.',
    });
  });

  it('rejects a session whose end on another node the client has seen', async () => {
    const { admission, sign, run } = await twoNodes();
    const token = await sign('first');
    expect(await admission.authenticate(token)).to.include({ sessionId: 'first' });
    const { position } = await run({
      type: 'EndSession',
      userId: 'ada',
      sessionId: 'first',
      reason: 'logout',
      now: NOON,
    });
    expect(await admission.authenticate(token, position)).to.include({
      rejected: 'chat/unauthorized',
      kind: 'unauthenticated',
    });
    expect(admission.session({ userId: 'ada', sessionId: 'first' })).to.equal(undefined);
  });

  it('rejects invalid tokens like a missing one', async () => {
    const { admission, sign } = await twoNodes();
    const token = await sign('first');
    for (const each of [undefined, '', 'x', `${token}x`])
      expect(await admission.authenticate(each), each).to.include({ rejected: 'chat/unauthorized' });
  });
});
