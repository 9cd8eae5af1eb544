/** Reading the body of a request after its client disconnected does not wait for more bytes. */
import { expect } from 'chai';
import { createBodyReader, incomplete } from '../../adapters/http/server/body.js';

describe('body of a request whose client has disconnected', () => {
  it('is reported as incomplete immediately, even when the reader module is loaded lazily', async () => {
    const read = createBodyReader({});
    const reservation = { acquire: () => undefined, giveBack() {}, release() {} };
    const req = { headers: { 'content-length': '5', 'content-type': 'application/json' }, destroyed: true };
    expect(await read({ req } as never, reservation as never)).to.equal(incomplete);
  });
});
