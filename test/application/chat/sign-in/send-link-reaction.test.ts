/** Mail follows the log: once for each link that is the newest, however often its event comes. */
import { randomBytes, randomUUID } from 'node:crypto';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import type { Authentication } from '../../../../application/chat/sign-in/authenticate.js';
import { createOneTimeLinks } from '../../../../application/chat/sign-in/one-time-links.js';
import { mailReaction } from '../../../../application/chat/sign-in/send-link-reaction.js';
import type { Mail } from '../../../../application/ports/identity.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { type ChatEvent, catalog } from '../../../../domain/chat/catalog.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import { NOON } from '../../../support/chat-user-fixtures.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

const ADA = 'ada@example.org';
const user = { id: 'ada', email: ADA, userName: 'Ada', isAdmin: false, createdAt: NOON, isGone: false };

function desk({ isTaken = true } = {}) {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const derivation = createDerivation(randomBytes(32));
  const admission = {
    user: async (whose: { readonly id?: string; readonly email?: string }) =>
      whose.id === 'ada' || whose.email === ADA ? user : undefined,
  } as Partial<Authentication> as Authentication;
  const ports = { ...kernel, derivation, admission, signed: createSignedTokens(randomBytes(32)) };
  const lives = { magicLinkExpirySeconds: 900, inviteExpirySeconds: 604_800 };
  const log = { ...kernel.log, retain: async () => {} };
  const links = createOneTimeLinks({
    ...ports,
    ...lives,
    log,
    clock: { now: () => NOON },
    isInviteRequired: true,
  });
  const sent: Mail[] = [];
  const send = async (mail: Mail) => {
    sent.push(mail);
    return isTaken;
  };
  const settings = {
    subject: 'Come in',
    templates: {},
    takesPasswords: false,
    appUrl: () => 'https://chat.example',
  };
  const { signal } = new AbortController();
  const reaction = mailReaction({ ...ports, ...settings, links, mailer: { send }, logger: silentLogger, signal });
  const stream = (email: string) => `chat.address-${derivation.id('chat.address', email)}`;
  return {
    sent,
    /** Asks for a link; what the log says of it. */
    async request(email: string): Promise<RecordedEvent<ChatEvent<'LinkRequested'>>> {
      const done = await links.request('magic-link', email, context(randomUUID()));
      if (isRejection(done)) throw new Error(done.rejected);
      const events = (await kernel.log.read(stream(email))) as readonly RecordedEvent[];
      return events.filter(({ type }) => type === 'LinkRequested').at(-1) as never;
    },
    told: async (email: string) =>
      ((await kernel.log.read(stream(email))) as readonly RecordedEvent[]).map(({ type }) => type),
    react: reaction.on.LinkRequested,
  };
}

describe('the mail of the chat', () => {
  it('is sent once, though its event comes again after a crash', async () => {
    const { request, react, sent, told } = desk();
    const event = await request(ADA);
    await react(event);
    await react(event);
    expect(sent.map(({ to, subject, id }) => ({ to, subject, id }))).to.deep.equal([
      { to: ADA, subject: 'Come in', id: event.data.linkId },
    ]);
    expect(await told(ADA)).to.deep.equal(['LinkRequested', 'LinkMailed']);
  });

  it('is not sent for a link that a newer one has followed', async () => {
    const { request, react, sent } = desk();
    const [older, newer] = [await request(ADA), await request(ADA)];
    for (const event of [older, newer]) await react(event);
    expect(sent.map(({ id }) => id)).to.deep.equal([newer.data.linkId]);
  });

  it('goes to nobody who is no user, where invites are required', async () => {
    const { request, react, sent } = desk();
    await react(await request('eve@example.org'));
    expect(sent).to.deep.equal([]);
  });

  it('is given up once, where no server takes it', async () => {
    const { request, react, sent, told } = desk({ isTaken: false });
    const event = await request(ADA);
    await react(event);
    await react(event);
    expect(sent).to.have.length(1);
    expect(await told(ADA)).to.deep.equal(['LinkRequested', 'LinkNotMailed']);
  });
});
