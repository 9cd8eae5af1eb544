/** A service written by following docs/guide/services.md, which shows that the guide works. */
import { expect } from 'chai';
import { EventSource } from 'eventsource';
import { golden } from '../support/catalog-spec.js';
import { specOf } from '../support/decider-spec.js';
import { useNode } from '../support/node.js';
import { projectionSpec, sealed } from '../support/projection-spec.js';
import { type BookSigned, book, bookStream } from './book.js';
import { entries } from './entries.js';
import { guestbook } from './service.js';

const signed: BookSigned = { type: 'BookSigned', data: golden('guestbook', 'BookSigned.v1') };
const { bookId, secret: ada } = signed.data;

describe('guestbook example service', () => {
  const node = useNode(guestbook);
  const { given } = projectionSpec(entries, ({ data }: BookSigned) => bookStream(data));

  it('allows one entry for each name', () => {
    const sign = { bookId, now: signed.data.signedAt, ...ada };
    specOf(book).given().when(sign).then(signed);
    specOf(book).given(signed).when(sign).thenRejected('guestbook/already-signed');
  });

  it('stores a row for each entry, encrypted as in the log', () =>
    given(signed).thenRows({ _id: 'e0', book: bookId, revision: 0, secret: sealed(ada) }));

  it('shows an entry to readers and subscribers, and writes it once for a repeated idempotency key', async () => {
    const at = `${node.url('guestbook')}/books/${bookId}`;
    const sign = async (body: object, key: string) => {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': key };
      const sent = await fetch(`${at}/entries`, { method: 'POST', headers, body: JSON.stringify(body) });
      return sent.status;
    };
    const stream = new EventSource(`${at}/events`);
    const delivered = new Promise<string>((resolve) => stream.addEventListener('message', ({ data }) => resolve(data)));
    await new Promise((opened) => stream.addEventListener('open', opened));
    expect([await sign(ada, 'one'), await sign(ada, 'one')]).to.deep.equal([201, 201]);
    expect([await sign(ada, 'two'), await sign({}, 'three')]).to.deep.equal([409, 400]);
    expect(await (await fetch(at)).json()).to.deep.equal({ entries: [ada] });
    expect(JSON.parse(await delivered)).to.deep.equal({ type: 'SIGNED', payload: ada });
    stream.close();
  });
});
