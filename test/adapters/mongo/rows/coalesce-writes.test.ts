/** Coalescing of a batch's writes: changes of one row become one write. */
import { expect } from 'chai';
import { coalesceWrites } from '../../../../adapters/mongo/rows/coalesce-writes.js';
import type { RecordedEvent } from '../../../../application/ports/index.js';
import { type Row, type RowUpdate, type RowWrite, writesOf } from '../../../../projections/kernel/projection.js';
import { state } from '../../../../projections/rooms/room-state.js';

const events = (type: string, count: number, of: (n: number) => Partial<RecordedEvent>) =>
  Array.from({ length: count }, (_, n) => ({
    id: `${type}-${n}`,
    stream: 'rooms.messages-x',
    revision: n,
    version: 1,
    recordedAt: 0,
    type,
    data: {},
    metadata: {},
    position: BigInt(n),
    ...of(n),
  }));

const writes = (of: readonly RecordedEvent[]) =>
  coalesceWrites(of.flatMap((event) => writesOf(state, event))).map(({ write }) => write);
const updateOf = (write: RowWrite | undefined) =>
  (write as unknown as { updateOne: { filter: Row; update: RowUpdate } }).updateOne;

describe('coalesced writes', () => {
  const posts = (roomId: string, count: number) =>
    events('MessagePosted', count, (n) => ({
      revision: n,
      position: BigInt(1000 + n),
      data: { roomId, messageId: `m${n}`, senderId: 'ada', createdAt: 0, expiresAt: 1, secret: 's' },
    }));

  it('are one per row, guarded by its first event, with the position of its last', () => {
    const [write, ...more] = writes(posts('r', 16));
    expect(more).to.deep.equal([]);
    const { filter, update } = updateOf(write);
    expect(String((filter._at as unknown as { $lt: unknown }).$lt)).to.equal('1000');
    expect(String(update.$set?._at)).to.equal('1015');
    expect((update.$push?.messages as { $each: unknown[] } | undefined)?.$each).to.have.length(16);
    expect(writes(posts('r', 64))).to.have.length(4);
  });

  it('are one for a room that is created and joined', () => {
    const [created] = events('RoomCreated', 1, () => ({ data: { roomId: 'r', createdAt: 0, expiresAt: 1 } }));
    const joined = events('ParticipantJoined', 3, (n) => ({
      position: BigInt(n + 1),
      data: { roomId: 'r', participantId: `p${n}`, joinedAt: 0, secret: 's' },
    }));
    const [write, ...more] = writes([created!, ...joined]);
    expect(more).to.deep.equal([]);
    expect(updateOf(write).update.$set?.participants).to.have.length(3);
  });

  it('stay one when another room ends in between, and split when the same room does', () => {
    const burned = (roomId: string) => events('RoomBurned', 1, () => ({ position: 1002n, data: { roomId } }));
    const around = (roomId: string) => {
      const all = posts('r', 4);
      const kinds = writes([...all.slice(0, 2), ...burned(roomId), ...all.slice(2)]);
      return kinds.map((write) => Object.keys(write)[0]);
    };
    expect(around('other')).to.deep.equal(['updateOne', 'replaceOne', 'deleteMany']);
    expect(around('r')).to.deep.equal(['updateOne', 'replaceOne', 'deleteMany', 'updateOne']);
  });
});
