/** Keys of one-time links are destroyed after the day on which the links expire, with the addresses they encrypt. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { createDerivation } from '../../../../adapters/crypto/derivation.js';
import { createSignedTokens } from '../../../../adapters/crypto/signed-tokens.js';
import type { Authentication } from '../../../../application/chat/sign-in/authenticate.js';
import { createLinks } from '../../../../application/chat/sign-in/links.js';
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

/** The start of the day of `NOON`. */
const MIDNIGHT = Math.floor(NOON / DAY) * DAY;

function fixture() {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  const derivation = createDerivation(randomBytes(32));
  const time = { now: MIDNIGHT as number | undefined };
  const admission = { user: async () => undefined } as Partial<Authentication> as Authentication;
  const retentions: Parameters<typeof kernel.log.retain>[] = [];
  const log = { ...kernel.log, retain: async (...args: (typeof retentions)[0]) => void retentions.push(args) };
  const links = createLinks({
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
    /** The calls of `retain`. */
    retentions,
    ended,
    end,
    /** Requests a link for an address that is not a user. */
    async ask(email: string, at: number) {
      time.now = at;
      const done = await links.request('magic-link', email, context(randomUUID()));
      if (isRejection(done)) throw new Error(done.rejected);
    },
    /** The address as decrypted from the log; empty once its key is destroyed. */
    async known(email: string): Promise<string> {
      const found = await kernel.log.read(streamOf(email));
      const [requested] = found as readonly RecordedEvent<ChatEvent<'LinkRequested'>>[];
      return (await kernel.decryptEvent(catalog, requested!)).data.secret.email;
    },
  };
}

describe('the daily keys of one-time links', () => {
  it('are destroyed when their day ends; keys of links that are still valid stay', async () => {
    const { ask, known, end, time } = fixture();
    await ask('ada@example.org', MIDNIGHT);
    // This link is valid until the next day.
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

  it('of the last month are destroyed after downtime, and no others', async () => {
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

  it('are created again after a clock days ahead destroyed them, and destroyed when their day ends', async () => {
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

  it('stay while the clock is unconfirmed or the node is stopping', async () => {
    const { end, ended, time } = fixture();
    time.now = undefined;
    await end(signal);
    time.now = MIDNIGHT;
    await end(AbortSignal.abort());
    expect(ended).to.deep.equal([]);
  });
});

describe('the stream of an address that requests links', () => {
  it('gets a retention one day longer than the longest link, once', async () => {
    const { ask, retentions, streamOf } = fixture();
    for (const name of ['ada', 'bob', 'ada']) await ask(`${name}@example.org`, NOON);
    const aDayMore = { maxAgeSeconds: 604_800 + 86_400 };
    expect(retentions).to.deep.equal(['ada', 'bob'].map((name) => [streamOf(`${name}@example.org`), aDayMore]));
  });
});
