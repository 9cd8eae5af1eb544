/** The keys of links go when the day is over on which they end, and with each whoever asked for one and never came. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import type { Authentication } from '../../../../application/chat/sign-in/authenticate.js';
import { createOneTimeLinks } from '../../../../application/chat/sign-in/one-time-links.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { createDayKeyExpiry } from '../../../../application/secrets/expire-day-keys.js';
import { type ChatEvent, catalog } from '../../../../domain/chat/catalog.js';
import { linksSubjectOf } from '../../../../domain/chat/events/sign-in.js';
import { isRejection } from '../../../../domain/shared/decider.js';
import { NOON } from '../../../support/chat-user-fixtures.js';
import { memoryKernel, memoryWorld } from '../../../support/memory-kernel.js';
import { context } from '../../../support/toy-service.js';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const { signal } = new AbortController();

/** The beginning of the day of `NOON`. */
const MIDNIGHT = Math.floor(NOON / DAY) * DAY;

function fixture() {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const derivation = createDerivation(randomBytes(32));
  const time = { now: MIDNIGHT as number | undefined };
  const admission = { user: async () => undefined } as Partial<Authentication> as Authentication;
  const kept: Parameters<typeof kernel.log.retain>[] = [];
  const log = { ...kernel.log, retain: async (...asked: (typeof kept)[0]) => void kept.push(asked) };
  const links = createOneTimeLinks({
    ...kernel,
    log,
    derivation,
    admission,
    signed: createSignedTokens(randomBytes(32)),
    clock: { now: () => time.now ?? 0 },
    isInviteRequired: false,
    magicLinkExpirySeconds: 900,
    inviteExpirySeconds: 604_800,
  });
  const streamOf = (email: string) => `chat.address-${derivation.id('chat.address', email)}`;
  const ended: string[] = [];
  const vault = {
    async destroy(subject: string) {
      ended.push(subject);
      await kernel.vault.destroy(subject);
    },
  };
  const clock = { confirmedNow: async () => time.now } as Parameters<typeof createDayKeyExpiry>[0]['clock'];
  const end = createDayKeyExpiry({ vault, clock, subjectOf: linksSubjectOf });
  return {
    time,
    streamOf,
    /** What the log was told to keep. */
    kept,
    ended,
    end,
    /** Somebody asks for a link at a time, who is no user. */
    async ask(email: string, at: number) {
      time.now = at;
      const done = await links.request('magic-link', email, context(randomUUID()));
      if (isRejection(done)) throw new Error(done.rejected);
    },
    /** Whom the log knows still. */
    async known(email: string): Promise<string> {
      const found = await kernel.log.read(streamOf(email));
      const [asked] = found as readonly RecordedEvent<ChatEvent<'LinkRequested'>>[];
      return (await kernel.decryptEvent(catalog, asked!)).data.secret.email;
    },
  };
}

describe('the keys of mailed links', () => {
  it('go when their day is over, and whoever asked with them; those of links that may be open stay', async () => {
    const { ask, known, end, time } = fixture();
    await ask('ada@example.org', MIDNIGHT);
    // Its link is open on the day after.
    await ask('bob@example.org', MIDNIGHT + DAY - 1);
    time.now = MIDNIGHT + DAY - 1;
    await end(signal);
    expect(await known('ada@example.org')).to.equal('ada@example.org');
    time.now = MIDNIGHT + DAY;
    await end(signal);
    expect(await known('ada@example.org')).to.equal('');
    expect(await known('bob@example.org')).to.equal('bob@example.org');
    time.now = MIDNIGHT + 2 * DAY;
    await end(signal);
    expect(await known('bob@example.org')).to.equal('');
  });

  it('go though no node ran for a month, and no others', async () => {
    const { end, ended, time } = fixture();
    const days = (from: number, to: number) =>
      Array.from({ length: to - from + 1 }, (_, at) => `chat.links-${MIDNIGHT / DAY + from + at}`);
    await end(signal);
    expect(ended.splice(0)).to.deep.equal(days(-31, -1));
    time.now = MIDNIGHT + DAY - 1;
    await end(signal);
    expect(ended.splice(0)).to.deep.equal(days(-1, -1));
    time.now = MIDNIGHT + 3 * DAY;
    await end(signal);
    expect(ended).to.deep.equal(days(0, 2));
  });

  it('are made anew where a clock that was days ahead has ended them, and go again when their day is over', async () => {
    const { ask, known, end, time } = fixture();
    await ask('ada@example.org', MIDNIGHT);
    time.now = MIDNIGHT + 5 * DAY;
    await end(signal);
    for (const day of [0, 4]) {
      const email = `bob${day}@example.org`;
      await ask(email, MIDNIGHT + day * DAY + HOUR);
      await end(signal);
      expect(await known(email)).to.equal(email);
      time.now = MIDNIGHT + (day + 1) * DAY;
      await end(signal);
      expect(await known(email)).to.equal('');
    }
    expect(await known('ada@example.org')).to.equal('');
  });

  it('stay while nobody knows for certain what time it is, or the node is to stop', async () => {
    const { end, ended, time } = fixture();
    time.now = undefined;
    await end(signal);
    time.now = MIDNIGHT;
    await end(AbortSignal.abort());
    expect(ended).to.deep.equal([]);
  });
});

describe('what is told of an address that asks for links', () => {
  it('is kept for a day longer than any link is open, as the log is told once', async () => {
    const { ask, kept, streamOf } = fixture();
    for (const name of ['ada', 'bob', 'ada']) await ask(`${name}@example.org`, NOON);
    const aDayMore = { maxAgeSeconds: 604_800 + 86_400 };
    expect(kept).to.deep.equal(['ada', 'bob'].map((name) => [streamOf(`${name}@example.org`), aDayMore]));
  });
});
