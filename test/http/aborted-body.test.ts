/** A request whose client has gone before its body is read: it is not waited for. */
import { expect } from 'chai';
import { createBodyReader, incomplete } from '../../adapters/http/server/body.js';

describe('a body of a client that has gone', () => {
  it('is incomplete at once, also where the reader had to be loaded first', async () => {
    const read = createBodyReader({});
    const held = { acquire: () => undefined, giveBack() {}, release() {} };
    const req = { headers: { 'content-length': '5', 'content-type': 'application/json' }, destroyed: true };
    expect(await read({ req } as never, held as never)).to.equal(incomplete);
  });
});
