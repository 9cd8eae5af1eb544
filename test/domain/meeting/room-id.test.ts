/** Ids of meeting rooms: as typed by people, and as generated. */
import { expect } from 'chai';
import { roomIdFromBytes, roomIdOf } from '../../../domain/meeting/room-id.js';

describe('a meeting room id', () => {
  it('has six letters and digits, in any case and with surrounding blanks', () => {
    for (const text of ['abc234', ' ABC234\n', 'aBc234']) expect(roomIdOf(text)).to.equal('ABC234');
    for (const none of ['', 'ABC23', 'ABC2345', 'XABC234', 'ABC-34', 'ÄBC234', 'ABC 34'])
      expect(roomIdOf(none), none).to.equal(undefined);
  });

  it('is generated from unambiguous characters', () => {
    for (let byte = 0; byte < 256; byte++) {
      const id = roomIdFromBytes(new Uint8Array(12).map((_, at) => byte + at * 17));
      expect(id).to.match(/^[A-HJ-NP-Z2-9]{6}$/);
      expect(roomIdOf(id)).to.equal(id);
    }
  });
});
