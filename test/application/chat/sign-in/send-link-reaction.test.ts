/** Mail follows the log: once for each link that is the newest, however often its event comes. */
import { randomBytes, randomUUID } from 'node:crypto';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import type { Authentication } from '../../../../application/chat/sign-in/authenticate.js';
import { createOneTimeLinks } from '../../../../application/chat/sign-in/one-time-links.js';
import { mailReaction, renderEmail } from '../../../../application/chat/sign-in/send-link-reaction.js';
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

const LINK = 'https://chat.example/?token=a.b-c&email=ada%40example.org';
const plain = { subject: 'Come in', templates: {} };

describe('the letters of the chat', () => {
  it('carry their link in both bodies, and say how long it lasts', () => {
    for (const purpose of ['magic-link', 'invite', 'reset'] as const) {
      const { subject, text, html } = renderEmail(purpose, LINK, 15, plain);
      expect(subject).to.be.a('string').and.not.equal('');
      expect(text).to.contain(LINK).and.contain('15 minutes');
      expect(html)
        .to.contain(`href="${LINK.replace('&', '&amp;')}"`)
        .and.contain('15 minutes');
    }
    expect(renderEmail('invite', LINK, 10_080, plain).text).to.contain('7 days');
    expect(renderEmail('reset', LINK, 1, plain).text).to.contain('1 minute.');
  });

  it('are of the configured subject and words where they are for signing in, and only there', () => {
    const text = (link: string, minutes: number) => `text ${link} ${minutes}`;
    const html = (link: string, minutes: number) => `html ${link} ${minutes}`;
    const own = { subject: 'Come in', templates: { text, html } };
    expect(renderEmail('magic-link', LINK, 15, own)).to.deep.equal({
      subject: 'Come in',
      text: `text ${LINK} 15`,
      html: `html ${LINK} 15`,
    });
    expect(renderEmail('reset', LINK, 15, own)).to.deep.equal(renderEmail('reset', LINK, 15, plain));
    expect(renderEmail('magic-link', LINK, 15, { ...plain, templates: { text } }).html).to.contain('<a href=');
  });

  it('let no link out of its quotes', () => {
    const { html } = renderEmail('magic-link', 'https://x/"><script>&', 15, plain);
    expect(html).to.contain('href="https://x/&quot;&gt;&lt;script&gt;&amp;"').and.not.to.contain('<script>');
  });
});
