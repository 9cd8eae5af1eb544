/** The rules of files and images. */
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
const after = (...commands: readonly FileCommand[]) => given(...run(commands).events);
const DAY = UNATTACHED_MS;

const attached = (holderId: string, messageId = holderId) => ({
  type: 'FileAttached' as const,
  data: { fileId: FILE, messageId, holderId, channelId: CHANNEL, by: ADA, attachedAt: NOON + 1 },
});
const detached = (holderId: string, detachedAt: number, messageId = holderId) => ({
  type: 'FileDetached' as const,
  data: { fileId: FILE, messageId, holderId, detachedAt },
});
const discarded = (reason: 'unattached' | 'deleted', discardedAt: number) => ({
  type: 'FileDiscarded' as const,
  data: { fileId: FILE, reason, discardedAt },
});
const kept = (keptAt: number) => ({ type: 'FileKept' as const, data: { fileId: FILE, keptAt } });

describe('a file', () => {
  it('is uploaded once', () => {
    after(upload()).when(upload()).thenRejected('chat/file-exists', { kind: 'conflict' });
  });

  it('hangs on a message and on a reply, on each once', () => {
    after(upload()).when(attach('m')).then(attached('m'));
    after(upload()).when(attach('m.r')).then(attached('m.r', 'm'));
    after(upload(), attach('m'))
      .when(attach('m', { by: BOB }))
      .thenNothing();
  });

  it('hangs on no more messages than whoever wants to read it can look at', () => {
    const many = Array.from({ length: MAX_HOLDERS }, (_, index) => attach(`m${index}`));
    after(upload(), ...many)
      .when(attach('one more'))
      .thenRejected('chat/file-on-too-many-messages');
    after(upload(), ...many)
      .when(attach('m0'))
      .thenNothing();
  });

  it('hangs on messages of its uploader however many others have hung it on theirs, and the other way round', () => {
    const by = (who: string) =>
      Array.from({ length: MAX_HOLDERS }, (_, index) => attach(`${who}${index}`, { by: who }));
    const others = after(upload(), ...by(BOB));
    others.when(attach('own')).then(attached('own'));
    for (const who of [BOB, CYD])
      others.when(attach('one more', { by: who })).thenRejected('chat/file-on-too-many-messages');
    const more = { ...attached('other'), data: { ...attached('other').data, by: BOB } };
    after(upload(), ...by(ADA))
      .when(attach('other', { by: BOB }))
      .then(more);
    after(upload(), ...by(BOB), ...by(ADA))
      .when(attach('own'))
      .thenRejected('chat/file-on-too-many-messages');
  });

  it('is hung by one person only so often, taken away again or not: all that was is read with it', () => {
    const again = Array.from({ length: MAX_ATTACHMENTS }, (_, n) => [attach(`m${n}`), detach(`m${n}`, NOON)]);
    const often = after(upload(), ...again.flat());
    often.when(attach('one more')).thenRejected('chat/file-hung-too-often');
    often.when(attach('m0', { by: BOB })).then({ ...attached('m0'), data: { ...attached('m0').data, by: BOB } });
  });

  it('can hang on nothing where it never was, or is no more', () => {
    given().when(attach('m')).thenRejected('chat/file-not-found', { kind: 'not-found' });
    after(upload(), attach('m'), release({ messageId: 'm' }))
      .when(attach('n'))
      .thenRejected('chat/file-not-found');
  });

  it('goes with the last message that holds it', () => {
    after(upload(), attach('m'), attach('n'))
      .when(release({ messageId: 'm' }))
      .then(detached('m', NOON + 3));
    after(upload(), attach('m'))
      .when(release({ messageId: 'm' }))
      .then(detached('m', NOON + 3), discarded('deleted', NOON + 3));
    after(upload(), attach('m'), attach('n'), release({ messageId: 'm' }))
      .when(release({ messageId: 'n' }))
      .then(detached('n', NOON + 3), discarded('deleted', NOON + 3));
    after(upload(), attach('m'))
      .when(release({ messageId: 'other' }))
      .thenNothing();
  });

  it('goes with a message whose reply holds it, and with the reply', () => {
    const gone = [detached('m.r', NOON + 3, 'm'), discarded('deleted', NOON + 3)];
    after(upload(), attach('m.r'))
      .when(release({ messageId: 'm' }))
      .then(...gone);
    after(upload(), attach('m.r'))
      .when(release({ holderId: 'm.r' }))
      .then(...gone);
    after(upload(), attach('m.r'))
      .when(release({ holderId: 'm' }))
      .thenNothing();
  });

  it('goes with the last channel that it hangs in, an image with its own', () => {
    after(upload(), attach('m'), attach('n', { channelId: 'other' }))
      .when(release({ channelId: CHANNEL }))
      .then(detached('m', NOON + 3));
    after(upload({ channelId: CHANNEL }))
      .when(release({ channelId: CHANNEL }))
      .then(discarded('deleted', NOON + 3));
    after(upload())
      .when(release({ channelId: CHANNEL }))
      .thenNothing();
  });

  it('is taken back within a day by whoever has edited it away', () => {
    after(upload(), attach('m'))
      .when(detach('m'))
      .then(detached('m', NOON + 2));
    after(upload()).when(detach('m')).thenNothing();
    after(upload(), attach('m'), detach('m')).when(attach('m')).then(attached('m'));
    after(upload(), attach('m'), detach('m'))
      .when(review([], NOON + 1 + DAY))
      .thenNothing();
    after(upload(), attach('m'), detach('m'))
      .when(review([], NOON + 2 + DAY))
      .then(discarded('unattached', NOON + 2 + DAY));
  });

  it('is discarded a day after it was uploaded where it hangs on nothing', () => {
    after(upload())
      .when(review([], NOON + DAY - 1))
      .thenNothing();
    after(upload())
      .when(review([], NOON + DAY))
      .then(discarded('unattached', NOON + DAY));
  });

  it('is kept where what it hangs on was said, and let go of what never was', () => {
    const then = NOON + 1 + DAY;
    after(upload(), attach('m')).when(review([], then)).then(kept(then));
    after(upload(), attach('m'))
      .when(review(['m'], then))
      .then(detached('m', then), discarded('unattached', then));
    after(upload(), attach('m'), attach('n'))
      .when(review(['m'], then))
      .then(detached('m', then), kept(then));
  });

  it('is discarded once, and touched by nothing after it', () => {
    const holders = fc.constantFrom('m', 'm.r', 'n');
    const commands = fc.oneof(
      holders.map((holder) => attach(holder)),
      holders.map((holder) => detach(holder)),
      holders.map((messageId) => release({ messageId })),
      holders.map((holderId) => release({ holderId })),
      fc.constant(release({ channelId: CHANNEL })),
      fc.tuple(fc.subarray(['m', 'm.r', 'n']), fc.nat(3)).map(([gone, days]) => review(gone, NOON + days * DAY)),
    );
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 30 }), (tried) => {
        const { events, state } = run([upload(), ...tried]);
        const end = events.findIndex(({ type }) => type === 'FileDiscarded');
        expect(end).to.be.oneOf([-1, events.length - 1]);
        expect(state.status).to.equal(end < 0 ? 'active' : 'discarded');
        expect(new Set(state.holders.map(({ holderId }) => holderId)).size).to.equal(state.holders.length);
      }),
    );
  });
});
