/** Rows of files: holders and due times, equal to the state of the decider. */
import { expect } from 'chai';
import fc from 'fast-check';
import { fileSubject } from '../../../domain/chat/events/files.js';
import { type FileCommand, type FileEvent, file, UNATTACHED_MS } from '../../../domain/chat/file.js';
import { files } from '../../../projections/chat/files.js';
import { attach, CHANNEL, FILE, NOON, review, upload } from '../../support/chat-fixtures.js';
import { specOf } from '../../support/decider-spec.js';
import { projectionSpec } from '../../support/projection-spec.js';

const { run } = specOf(file);
const eventsOf = (...commands: readonly FileCommand[]) => run([upload(), ...commands]).events;
const row = (due?: number, more: object = {}) => ({
  _id: FILE,
  file: FILE,
  ...(due !== undefined && { due }),
  ...more,
});
const holderRow = (message: string, more: object = {}) => ({
  _id: `${FILE} ${message}`,
  file: FILE,
  message,
  channel: CHANNEL,
  ...more,
});

describe('the rows of files', function () {
  this.timeout(120_000);
  const { given } = projectionSpec<FileEvent>(files, ({ data }) => fileSubject(data));

  it('contain the due time of a review, and the channel of an image', async () => {
    await given(...eventsOf()).thenRows(row(NOON));
    const image = run([upload({ channelId: CHANNEL })]).events;
    await given(...image).thenRows(row(NOON, { channel: CHANNEL }));
  });

  it('contain the holders, and no due time after a review found them', async () => {
    const reply = holderRow('n.r', { thread: 'n' });
    await given(...eventsOf(attach('m'), attach('n.r'))).thenRows(row(NOON + 1), holderRow('m'), reply);
    const later = NOON + 2 * UNATTACHED_MS;
    await given(...eventsOf(attach('m'), review([], later))).thenRows(row(), holderRow('m'));
  });

  it('have the due time of the last attachment', async () => {
    const second = attach('n', { now: NOON + 5 });
    await given(...eventsOf(attach('m'), second)).thenRows(row(NOON + 5), holderRow('m'), holderRow('n'));
    const later = NOON + 2 * UNATTACHED_MS;
    const again = attach('n', { now: later + 5 });
    await given(...eventsOf(attach('m'), review([], later), again)).thenRows(
      row(later + 5),
      holderRow('m'),
      holderRow('n'),
    );
  });

  it('are deleted when the file is discarded', () =>
    given(...eventsOf(attach('m'), attach('n'), review(['m', 'n'], NOON + 2))).thenNoRows());

  it('equal the holders of the decider after any commands', async () => {
    const commands = fc.oneof(
      fc.constantFrom('m', 'm.r', 'n').map((holder) => attach(holder)),
      fc.subarray(['m', 'm.r', 'n']).map((missing) => review(missing, NOON + UNATTACHED_MS)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(commands, { maxLength: 12 }), async (tried) => {
        const { events, state } = run([upload(), ...tried]);
        const rows = await given(...events).rows();
        const holdersInRows = rows.flatMap(({ message }) => (message === undefined ? [] : [message])).sort();
        expect(holdersInRows).to.deep.equal(state.holders.map(({ messageId }) => messageId).sort());
      }),
      { numRuns: 15 },
    );
  });
});
