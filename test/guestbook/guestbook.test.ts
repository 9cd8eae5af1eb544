/** A service that was written by following docs/services.md, to see that it can be. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EventSource } from 'eventsource';
import { specOf } from '../support/decider-spec.js';
import { type RunningNode, startNode } from '../support/node.js';
import { type BookSigned, book } from './book.js';
import { guestbook } from './service.js';

/** As it was written first. */
const data: BookSigned['data'] = JSON.parse(
  readFileSync('test/fixtures/guestbook/BookSigned.v1.json', 'utf8'),
);
const signed: BookSigned = { type: 'BookSigned', data };
const ada = data.secret;

describe('a guest book', function () {
  this.timeout(60_000);
  let node: RunningNode;
  const at = (path: string) => `${node.url('guestbook')}/books/b${path}`;
  const sign = (body: object, key: { 'Idempotency-Key'?: string } = {}) => {
    const headers = { 'Content-Type': 'application/json', ...key };
    return fetch(at('/entries'), { method: 'POST', headers, body: JSON.stringify(body) });
  };

  before(async () => {
    node = await startNode([guestbook]);
  });
  after(() => node?.stop());

  it('is signed once by a name', () => {
    const { given } = specOf(book);
    given()
      .when({ bookId: 'b', now: 1, ...ada })
      .then(signed);
    given(signed)
      .when({ bookId: 'b', now: 2, ...ada })
      .thenRejected('guestbook/already-signed');
  });

  it('shows what was written to who reads and to who listens, and writes once what comes twice', async () => {
    const stream = new EventSource(at('/events'));
    const heard = new Promise<string>((told) => stream.addEventListener('message', ({ data }) => told(data)));
    await new Promise((opened) => stream.addEventListener('open', opened));
    const key = { 'Idempotency-Key': 'once' };
    const answers = [
      await sign(ada, key),
      await sign(ada, key),
      await sign(ada),
      await sign({ name: 'Bob' }),
    ];
    expect(answers.map(({ status }) => status)).to.deep.equal([201, 201, 409, 400]);
    expect(await (await fetch(at(''))).json()).to.deep.equal({ entries: [ada] });
    expect(JSON.parse(await heard)).to.deep.equal({ type: 'SIGNED', payload: ada });
    stream.close();
  });
});
