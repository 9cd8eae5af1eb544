/** The event stream of the pages: messages it cannot read, its cursor, and pauses that the service asks for. */
import { expect } from 'chai';
import { importWeb } from '../support/web-module.js';

interface Stream {
  cursor(): string | undefined;
  close(): void;
}
interface Page {
  openEventStream(options: object): Stream;
}
interface Request {
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}
interface FakeEvents {
  readonly at: number;
  readonly after: string | undefined;
}

const QUIET = { url: () => 'events', headers: () => ({}), onState: () => {}, onUnauthorized: async () => false };

describe('event stream of the pages', function () {
  this.timeout(20_000);
  let page: Page;
  let events: FakeEvents[];
  let answers: (() => Response)[];
  let reported: unknown[];
  let wake = () => {};
  const replaced = { fetch: globalThis.fetch, error: console.error };

  before(async () => {
    page = await importWeb<Page>('shared/api/event-stream.ts');
  });
  beforeEach(() => {
    events = [];
    reported = [];
    Object.assign(globalThis, {
      addEventListener: () => {},
      removeEventListener: () => {},
      fetch: async (_: string, { headers, signal }: Request) => {
        events.push({ at: Date.now(), after: headers['Last-Event-ID'] });
        wake();
        const answer = answers.shift();
        if (answer) return answer();
        return new Promise((_, reject) => signal.addEventListener('abort', reject));
      },
    });
    console.error = (...what: unknown[]) => void reported.push(what);
  });
  afterEach(() => {
    Object.assign(globalThis, { fetch: replaced.fetch });
    console.error = replaced.error;
  });

  /** Until the stream has connected this often. */
  async function connections(count: number) {
    while (events.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }

  it('passes over messages that cannot be read or shown, and reports them', async () => {
    const messages: unknown[] = [];
    answers = [
      () =>
        new Response(
          'id: 1\ndata: {"n":1}\n\nid: 2\ndata: {broken\n\nid: 3\ndata: {"n":3}\n\nid: 4\ndata: {"n":4}\n\n',
        ),
    ];
    const stream = page.openEventStream({
      ...QUIET,
      onMessage: (message: { n: number }) => {
        if (message.n === 3) throw new Error('cannot be shown');
        messages.push(message.n);
      },
    });
    await connections(2);
    stream.close();
    expect(messages).to.deep.equal([1, 4]);
    expect(events[1]?.after).to.equal('4');
    expect(reported).to.have.length(2);
  });

  it('waits as long as the service asks', async () => {
    answers = [() => new Response('', { status: 503, headers: { 'Retry-After': '2' } })];
    const stream = page.openEventStream({ ...QUIET, onMessage: () => {} });
    await connections(2);
    stream.close();
    expect(events[1]!.at - events[0]!.at).to.be.at.least(1990);
  });

  it('reads messages as its user asks', async () => {
    answers = [() => new Response('id: 1\ndata: 12345678901234567890\n\n')];
    const read = new Promise((resolve) => {
      const stream = page.openEventStream({
        ...QUIET,
        parse: (text: string) => text,
        onMessage: (message: unknown) => {
          stream.close();
          resolve(message);
        },
      });
    });
    expect(await read).to.equal('12345678901234567890');
  });
});
