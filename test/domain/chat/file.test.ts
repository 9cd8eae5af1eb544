/** The life cycle of files and images: attached, detached, reviewed and discarded. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { FileCommand } from '../../../domain/chat/file.js';
import { file, MAX_ATTACHMENTS, UNATTACHED_MS } from '../../../domain/chat/file.js';
import { ADA, attach, BOB, CHANNEL, CYD, FILE, NOON, review, upload } from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, run } = specOf(file);
const givenCommands = (...commands: readonly FileCommand[]) => given(...run(commands).events);
const DAY = UNATTACHED_MS;

const attached = (messageId: string) => ({
  type: 'FileAttached' as const,
  data: { fileId: FILE, messageId, channelId: CHANNEL, by: ADA, attachedAt: NOON + 1 },
});
const discarded = (discardedAt: number) => ({
  type: 'FileDiscarded' as const,
  data: { fileId: FILE, discardedAt },
});
const fileKept = (keptAt: number) => ({ type: 'FileKept' as const, data: { fileId: FILE, keptAt } });

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

  const by = (who: string) =>
    Array.from({ length: MAX_ATTACHMENTS }, (_, index) => attach(`${who}${index}`, { by: who }));

  it('can be attached to a limited number of messages', () => {
    const full = givenCommands(upload(), ...by(ADA));
    full.when(attach('one more')).thenRejected('chat/file-on-too-many-messages');
    full.when(attach(`${ADA}0`)).thenNothing();
  });

  it('limits attachments by its uploader and by others separately', () => {
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

  it('cannot be attached before its upload or after it is discarded', () => {
    given().when(attach('m')).thenRejected('chat/file-not-found', { kind: 'not-found' });
    givenCommands(upload(), attach('m'), review(['m'], NOON + 2))
      .when(attach('n'))
      .thenRejected('chat/file-not-found');
  });

  it('is discarded when the last message with it is deleted', () => {
    const onTwo = givenCommands(upload(), attach('m'), attach('n'));
    onTwo.when(review(['m'], NOON + 2)).thenNothing();
    onTwo.when(review(['m', 'n'], NOON + 2)).then(discarded(NOON + 2));
    givenCommands(upload(), attach('m'))
      .when(review(['other'], NOON + 2))
      .thenNothing();
  });

  it('is not discarded because of messages it was attached to meanwhile', () => {
    givenCommands(upload(), attach('m'), attach('new'))
      .when(review(['m'], NOON + 2))
      .thenNothing();
  });

  it('is discarded with the channel it was uploaded to as an image', () => {
    givenCommands(upload({ channelId: CHANNEL }))
      .when(review([CHANNEL], NOON + 1))
      .then(discarded(NOON + 1));
    givenCommands(upload())
      .when(review([CHANNEL], NOON + 1))
      .thenNothing();
  });

  it('is discarded a day after upload if it is not attached', () => {
    givenCommands(upload())
      .when(review([], NOON + DAY - 1))
      .thenNothing();
    givenCommands(upload())
      .when(review([], NOON + DAY))
      .then(discarded(NOON + DAY));
  });

  it('is kept by the review a day after it was attached last, once', () => {
    const then = NOON + 1 + DAY;
    givenCommands(upload(), attach('m'))
      .when(review([], then - 1))
      .thenNothing();
    givenCommands(upload(), attach('m')).when(review([], then)).then(fileKept(then));
    givenCommands(upload(), attach('m'), review([], then))
      .when(review([], then + DAY))
      .thenNothing();
    givenCommands(upload(), attach('m'), attach('n'))
      .when(review(['m'], then))
      .then(fileKept(then));
    givenCommands(upload(), attach('m'), review([], then))
      .when(review(['m'], then + 1))
      .then(discarded(then + 1));
  });

  it('is discarded once, after which nothing changes', () => {
    const commands = fc.oneof(
      fc.constantFrom('m', 'm.r', 'n').map((holder) => attach(holder)),
      fc
        .tuple(fc.subarray(['m', 'm.r', 'n', CHANNEL]), fc.nat(3))
        .map(([missing, days]) => review(missing, NOON + days * DAY)),
    );
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 30 }), (tried) => {
        const { events, state } = run([upload(), ...tried]);
        const end = events.findIndex(({ type }) => type === 'FileDiscarded');
        expect(end).to.be.oneOf([-1, events.length - 1]);
        expect(state.isDiscarded).to.equal(end >= 0);
        expect(new Set(state.holders.map(({ messageId }) => messageId)).size).to.equal(state.holders.length);
      }),
    );
  });
});
