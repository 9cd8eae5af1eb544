/** How many writes a batch of events comes to: what it does to one row goes in one. */
import { expect } from 'chai';
import type { RecordedEvent } from '../../application/ports.js';
import { mergeWrites } from '../../projections/merging.js';
import { type Row, type RowUpdate, type RowWrite, writesOf } from '../../projections/projection.js';
import { state } from '../../projections/rooms/state.js';

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
  mergeWrites(of.flatMap((event) => writesOf(state, event))).map(({ write }) => write);
const updateOf = (write: RowWrite | undefined) =>
  (write as unknown as { updateOne: { filter: Row; update: RowUpdate } }).updateOne;

describe('the writes of a batch', () => {
  const posts = (roomId: string, count: number, first = 0) =>
    events('MessagePosted', count, (n) => ({
      revision: first + n,
      position: BigInt(1000 + n),
      data: { roomId, messageId: `m${n}`, senderId: 'ada', createdAt: 0, expiresAt: 1, secret: 's' },
    }));

  it('are one for each row, guarded by the first event and with the position of the last', () => {
    const [write, ...more] = writes(posts('r', 16));
    expect(more).to.deep.equal([]);
    const { filter, update } = updateOf(write);
    expect(String((filter._at as unknown as { $lt: unknown }).$lt)).to.equal('1000');
    expect(String(update.$set?._at)).to.equal('1015');
    expect((update.$push?.messages as { $each: unknown[] } | undefined)?.$each).to.have.length(16);
    expect(writes(posts('r', 64))).to.have.length(4);
  });

  it('are one for a room that is made and entered', () => {
    const [created] = events('RoomCreated', 1, () => ({ data: { roomId: 'r', createdAt: 0, expiresAt: 1 } }));
    const joined = events('ParticipantJoined', 3, (n) => ({
      position: BigInt(n + 1),
      data: { roomId: 'r', participantId: `p${n}`, joinedAt: 0, secret: 's' },
    }));
    const [write, ...more] = writes([created!, ...joined]);
    expect(more).to.deep.equal([]);
    expect(updateOf(write).update.$set?.participants).to.have.length(3);
  });

  it('are two for seven posts to a room that is full: what they add, and what goes for them', () => {
    const many = writes(posts('r', 7, 1024));
    expect(many).to.have.length(2);
    expect(updateOf(many[1]).update.$pull).to.deep.equal({ messages: { revision: { $lte: 30 } } });
  });

  it('are not more because another room ends in between, and are when theirs does', () => {
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
