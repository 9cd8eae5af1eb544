/** Room for what is on its way in: never more than there is, and nobody has all of it while others want some. */
import { expect } from 'chai';
import { createRoom } from '../../../application/logs/room.js';

describe('the room of ingest', () => {
  it('is taken up to its last byte, and given back', () => {
    const room = createRoom(100);
    expect([room.take(60), room.take(41), room.take(40), room.take(1)]).to.deep.equal([
      true,
      false,
      true,
      false,
    ]);
    expect(room.used()).to.equal(100);
    room.give(40);
    expect([room.take(41), room.take(40), room.used()]).to.deep.equal([false, true, 100]);
  });

  it('is there for any amount while nobody else has any of it', () => {
    const room = createRoom(100, 50);
    expect(room.take(300, 'ada')).to.equal(true);
    expect([room.take(1, 'bob'), room.take(0, 'bob')]).to.deep.equal([false, false]);
    room.give(300, 'ada');
    expect([room.take(1, 'bob'), room.used()]).to.deep.equal([true, 1]);
  });

  it('leaves of each caller what is over its share to the others', () => {
    const room = createRoom(100, 50);
    expect([room.take(30, 'ada'), room.take(21, 'ada'), room.take(20, 'ada')]).to.deep.equal([
      true,
      false,
      true,
    ]);
    expect([room.take(51, 'bob'), room.take(50, 'bob')]).to.deep.equal([false, true]);
    room.give(50, 'bob');
    expect(room.take(50), 'what is nobody’s has no share').to.equal(true);
  });

  it('forgets of a caller what it gave back, part by part', () => {
    const room = createRoom(1000, 50);
    for (const bytes of [20, 30]) expect(room.take(bytes, 'ada')).to.equal(true);
    room.give(20, 'ada');
    expect([room.take(21, 'ada'), room.take(20, 'ada')]).to.deep.equal([false, true]);
    room.give(30, 'ada');
    room.give(20, 'ada');
    expect([room.take(51, 'ada'), room.used()], 'its first may be of any size').to.deep.equal([true, 51]);
  });
});
