/** The life cycle of files and images: attached, detached, reviewed and discarded. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { FileCommand } from '../../../domain/chat/file.js';
import { file, MAX_ATTACHMENTS, MAX_HOLDERS, UNATTACHED_MS } from '../../../domain/chat/file.js';
import {
  ADA,
  attach,
  BOB,
  CHANNEL,
  CYD,
  detach,
  FILE,
  NOON,
  release,
  review,
  upload,
} from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(file);
const givenCommands = (...commands: readonly FileCommand[]) => given(...run(commands).events);
const DAY = UNATTACHED_MS;

const attached = (messageId: string) => ({
  type: 'FileAttached' as const,
  data: { fileId: FILE, messageId, channelId: CHANNEL, by: ADA, attachedAt: NOON + 1 },
});
const detached = (messageId: string, detachedAt: number) => ({
  type: 'FileDetached' as const,
  data: { fileId: FILE, messageId, detachedAt },
});
const discarded = (reason: 'unattached' | 'deleted', discardedAt: number) => ({
  type: 'FileDiscarded' as const,
  data: { fileId: FILE, reason, discardedAt },
});
const reviewed = (keptAt: number) => ({ type: 'FileKept' as const, data: { fileId: FILE, keptAt } });

describe('a file', () => {
  it('is uploaded once', () => {
    givenCommands(upload()).when(upload()).thenRejected('chat/file-exists', { kind: 'conflict' });
  });

  it('can be attached to a message and to a reply, once each', () => {
    givenCommands(upload()).when(attach('m')).then(attached('m'));
    givenCommands(upload()).when(attach('m.r')).then(attached('m.r'));
    givenCommands(upload(), attach('m'))
      .when(attach('m', { by: BOB }))
      .thenNothing();
  });

  it('can be attached to a limited number of messages', () => {
    const many = Array.from({ length: MAX_HOLDERS }, (_, index) => attach(`m${index}`));
    givenCommands(upload(), ...many)
      .when(attach('one more'))
      .thenRejected('chat/file-on-too-many-messages');
    givenCommands(upload(), ...many)
      .when(attach('m0'))
      .thenNothing();
  });

  it('limits attachments by its uploader and by others separately', () => {
    const by = (who: string) =>
      Array.from({ length: MAX_HOLDERS }, (_, index) => attach(`${who}${index}`, { by: who }));
    const others = givenCommands(upload(), ...by(BOB));
    others.when(attach('own')).then(attached('own'));
    for (const who of [BOB, CYD])
      others.when(attach('one more', { by: who })).thenRejected('chat/file-on-too-many-messages');
    const more = { ...attached('other'), data: { ...attached('other').data, by: BOB } };
    givenCommands(upload(), ...by(ADA))
      .when(attach('other', { by: BOB }))
      .then(more);
    givenCommands(upload(), ...by(BOB), ...by(ADA))
      .when(attach('own'))
      .thenRejected('chat/file-on-too-many-messages');
  });

  it('limits attachments per user, including detached ones', () => {
    const again = Array.from({ length: MAX_ATTACHMENTS }, (_, n) => [attach(`m${n}`), detach(`m${n}`, NOON)]);
    const often = givenCommands(upload(), ...again.flat());
    often.when(attach('one more')).thenRejected('chat/file-hung-too-often');
    often.when(attach('m0', { by: BOB })).then({ ...attached('m0'), data: { ...attached('m0').data, by: BOB } });
  });

  it('cannot be attached before its upload or after it is discarded', () => {
    given().when(attach('m')).thenRejected('chat/file-not-found', { kind: 'not-found' });
    givenCommands(upload(), attach('m'), release({ messageId: 'm' }))
      .when(attach('n'))
      .thenRejected('chat/file-not-found');
  });

  it('is discarded with the last message that holds it', () => {
    givenCommands(upload(), attach('m'), attach('n'))
      .when(release({ messageId: 'm' }))
      .then(detached('m', NOON + 3));
    givenCommands(upload(), attach('m'))
      .when(release({ messageId: 'm' }))
      .then(detached('m', NOON + 3), discarded('deleted', NOON + 3));
    givenCommands(upload(), attach('m'), attach('n'), release({ messageId: 'm' }))
      .when(release({ messageId: 'n' }))
      .then(detached('n', NOON + 3), discarded('deleted', NOON + 3));
    givenCommands(upload(), attach('m'))
      .when(release({ messageId: 'other' }))
      .thenNothing();
  });

  it('is discarded with a reply that holds it, or with the parent of the reply', () => {
    const discardedEvents = [detached('m.r', NOON + 3), discarded('deleted', NOON + 3)];
    givenCommands(upload(), attach('m.r'))
      .when(release({ messageId: 'm' }))
      .then(...discardedEvents);
    givenCommands(upload(), attach('m.r'))
      .when(release({ messageId: 'm.r' }))
      .then(...discardedEvents);
    givenCommands(upload(), attach('m'))
      .when(release({ messageId: 'm.r' }))
      .thenNothing();
  });

  it('is discarded with the last channel that holds it, an image with its own channel', () => {
    givenCommands(upload(), attach('m'), attach('n', { channelId: 'other' }))
      .when(release({ channelId: CHANNEL }))
      .then(detached('m', NOON + 3));
    givenCommands(upload({ channelId: CHANNEL }))
      .when(release({ channelId: CHANNEL }))
      .then(discarded('deleted', NOON + 3));
    givenCommands(upload())
      .when(release({ channelId: CHANNEL }))
      .thenNothing();
  });

  it('can be attached again within a day after an edit detached it', () => {
    givenCommands(upload(), attach('m'))
      .when(detach('m'))
      .then(detached('m', NOON + 2));
    givenCommands(upload()).when(detach('m')).thenNothing();
    givenCommands(upload(), attach('m'), detach('m')).when(attach('m')).then(attached('m'));
    givenCommands(upload(), attach('m'), detach('m'))
      .when(review([], NOON + 1 + DAY))
      .thenNothing();
    givenCommands(upload(), attach('m'), detach('m'))
      .when(review([], NOON + 2 + DAY))
      .then(discarded('unattached', NOON + 2 + DAY));
  });

  it('is discarded a day after upload if it is not attached', () => {
    givenCommands(upload())
      .when(review([], NOON + DAY - 1))
      .thenNothing();
    givenCommands(upload())
      .when(review([], NOON + DAY))
      .then(discarded('unattached', NOON + DAY));
  });

  it('is kept in a review if its message exists, and detached otherwise', () => {
    const then = NOON + 1 + DAY;
    givenCommands(upload(), attach('m')).when(review([], then)).then(reviewed(then));
    givenCommands(upload(), attach('m'))
      .when(review(['m'], then))
      .then(detached('m', then), discarded('unattached', then));
    givenCommands(upload(), attach('m'), attach('n'))
      .when(review(['m'], then))
      .then(detached('m', then), reviewed(then));
  });

  it('is discarded once, after which nothing changes', () => {
    const holders = fc.constantFrom('m', 'm.r', 'n');
    const commands = fc.oneof(
      holders.map((holder) => attach(holder)),
      holders.map((holder) => detach(holder)),
      holders.map((messageId) => release({ messageId })),
      fc.constant(release({ channelId: CHANNEL })),
      fc.tuple(fc.subarray(['m', 'm.r', 'n']), fc.nat(3)).map(([missing, days]) => review(missing, NOON + days * DAY)),
    );
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 30 }), (tried) => {
        const { events, state } = run([upload(), ...tried]);
        const end = events.findIndex(({ type }) => type === 'FileDiscarded');
        expect(end).to.be.oneOf([-1, events.length - 1]);
        expect(state.status).to.equal(end < 0 ? 'active' : 'discarded');
        expect(new Set(state.holders.map(({ messageId }) => messageId)).size).to.equal(state.holders.length);
      }),
    );
  });
});
