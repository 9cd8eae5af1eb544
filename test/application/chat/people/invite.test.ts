/** Invites of users whom an admin has added. */
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { inviteReaction } from '../../../../application/chat/people/add-user.js';

describe('an invite', () => {
  const invite = async (isLimited: boolean) => {
    const logged: string[] = [];
    const requested: string[] = [];
    const reaction = inviteReaction({
      admission: { user: async () => ({ id: 'ada', email: 'ada@example.org' }) } as never,
      passwords: { isSet: async () => false } as never,
      links: {
        request: async (purpose, email) => {
          requested.push(`${purpose} ${email}`);
          return { position: 1n, isLimited };
        },
      },
      derivation: createDerivation(Buffer.alloc(32)),
      logger: { error: (_: object, message: string) => void logged.push(message) } as never,
    });
    await reaction.on.UserAdded?.({ id: 'e', data: { how: 'admin', userId: 'ada' }, metadata: {} } as never);
    return { requested, logged };
  };

  it('is requested for the address, and reported if too many links were requested for it', async () => {
    expect(await invite(false)).to.deep.equal({ requested: ['invite ada@example.org'], logged: [] });
    expect((await invite(true)).logged.join()).to.match(/^invite not mailed: too many links/);
  });
});
