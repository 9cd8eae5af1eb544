/** Link emails follow the log: one for the newest link, however often its event is delivered. */
import { randomBytes, randomUUID } from 'node:crypto';
import { silentLogger } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import type { Authentication } from '../../../../application/chat/sign-in/authenticate.js';
import { createLinks, mailReaction, renderEmail } from '../../../../application/chat/sign-in/links.js';
import type { Mail } from '../../../../application/ports/identity.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { type ChatEvent, catalog } from '../../../../domain/chat/catalog.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import { NOON } from '../../../support/chat-user-fixtures.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

const ADA = 'ada@example.org';
const user = { id: 'ada', email: ADA, userName: 'Ada', isAdmin: false, createdAt: NOON, isRemoved: false };

function fixture({ isTaken = true } = {}) {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const derivation = createDerivation(randomBytes(32));
  const admission = {
    user: async (by: { readonly id?: string; readonly email?: string }) =>
      by.id === 'ada' || by.email === ADA ? user : undefined,
  } as Partial<Authentication> as Authentication;
  const ports = { ...kernel, derivation, admission, signed: createSignedTokens(randomBytes(32)) };
  const lives = { magicLinkExpirySeconds: 900, inviteExpirySeconds: 604_800 };
  const log = { ...kernel.log, retain: async () => {} };
  const links = createLinks({
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
    /** Requests a link; returns its event. */
    async request(email: string): Promise<RecordedEvent<ChatEvent<'LinkRequested'>>> {
      const done = await links.request('magic-link', email, context(randomUUID()));
      if (isRejection(done)) throw new Error(done.rejected);
      const events = (await kernel.log.read(stream(email))) as readonly RecordedEvent[];
      return events.filter(({ type }) => type === 'LinkRequested').at(-1) as never;
    },
    eventTypes: async (email: string) =>
      ((await kernel.log.read(stream(email))) as readonly RecordedEvent[]).map(({ type }) => type),
    react: reaction.on.LinkRequested,
  };
}

describe('link emails of the chat', () => {
  it('are sent once, even if the event is delivered again after a crash', async () => {
    const { request, react, sent, eventTypes } = fixture();
    const event = await request(ADA);
    await react(event);
    await react(event);
    expect(sent.map(({ to, subject, id }) => ({ to, subject, id }))).to.deep.equal([
      { to: ADA, subject: 'Come in', id: event.data.linkId },
    ]);
    expect(await eventTypes(ADA)).to.deep.equal(['LinkRequested', 'LinkMailed']);
  });

  it('are not sent for a link superseded by a newer one', async () => {
    const { request, react, sent } = fixture();
    const [older, newer] = [await request(ADA), await request(ADA)];
    for (const event of [older, newer]) await react(event);
    expect(sent.map(({ id }) => id)).to.deep.equal([newer.data.linkId]);
  });

  it('are not sent to unknown addresses if invites are required', async () => {
    const { request, react, sent } = fixture();
    await react(await request('eve@example.org'));
    expect(sent).to.deep.equal([]);
  });

  it('are given up once if no mail server accepts them', async () => {
    const { request, react, sent, eventTypes } = fixture({ isTaken: false });
    const event = await request(ADA);
    await react(event);
    await react(event);
    expect(sent).to.have.length(1);
    expect(await eventTypes(ADA)).to.deep.equal(['LinkRequested', 'LinkMailed']);
  });
});

const LINK = 'https://chat.example/?token=a.b-c&email=ada%40example.org';
const plain = { subject: 'Come in', templates: {} };

describe('email templates of the chat', () => {
  it('contain the link in both bodies and its lifetime', () => {
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

  it('use the configured subject and body for sign-in links only', () => {
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

  it('escape the link in HTML', () => {
    const { html } = renderEmail('magic-link', 'https://x/"><script>&', 15, plain);
    expect(html).to.contain('href="https://x/&quot;&gt;&lt;script&gt;&amp;"').and.not.to.contain('<script>');
  });
});
