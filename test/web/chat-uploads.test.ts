/** Uploads of the chat page: what happens to them when the user signs out, without a browser. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { importWeb } from '../support/web-module.js';
import { useBrowserGlobals } from './browser-globals.js';

interface Uploads {
  add(key: string, placeId: string, files: readonly File[]): readonly string[];
  previewOf(filename: string): string | undefined;
  stop(): void;
}
interface Drafts {
  of(key: string): { peek(): object };
  change(key: string, changes: object): void;
}
interface UploadsModule {
  createDrafts(userId: string): Drafts;
  createDraftSender(deps: { drafts: Drafts; uploads: Uploads; sending: { send(...sent: object[]): void } }): {
    isWaiting(key: string): boolean;
    send(target: object): void;
    start(): () => void;
  };
  createUploads(drafts: { of(key: string): object; change(key: string, changes: object): void }): Uploads;
}

/** Requests that are on their way until the test answers them. */
class FakeRequest {
  static sent: FakeRequest[] = [];
  readonly upload = {};
  readonly status = 200;
  responseText = '';
  isAborted = false;
  onload = () => {};
  onabort = () => {};
  open() {}
  setRequestHeader() {}
  getResponseHeader() {
    return null;
  }
  send() {
    FakeRequest.sent.push(this);
  }
  abort() {
    this.isAborted = true;
    this.onabort();
  }
  answer(body: object) {
    this.responseText = JSON.stringify(body);
    this.onload();
  }
}

class FakeReader {
  readonly result = 'data:,';
  onload = () => {};
  readAsDataURL() {
    queueMicrotask(() => this.onload());
  }
}

describe('uploads of the chat page', () => {
  useBrowserGlobals({ XMLHttpRequest: FakeRequest, FileReader: FakeReader });
  let page: UploadsModule;
  before(async () => {
    page = await importWeb<UploadsModule>(
      'chat/workspace/uploads.ts',
      'chat/workspace/drafts.ts',
      'chat/workspace/draft-sender.ts',
    );
  });

  function start() {
    FakeRequest.sent = [];
    const changes: object[] = [];
    const empty = { peek: () => ({ attachments: [], images: [] }) };
    const uploads = page.createUploads({ of: () => empty, change: (_, change) => changes.push(change) });
    const requests = async (count: number) => {
      await eventually(() => FakeRequest.sent.length === count);
      return FakeRequest.sent;
    };
    return { uploads, changes, requests };
  }

  it('become part of the draft', async () => {
    const { uploads, changes, requests } = start();
    uploads.add('c1', 'c1', [new File(['text'], 'notes.txt', { type: 'text/plain' })]);
    (await requests(1))[0]?.answer({ attachment: { filename: 'stored' } });
    await eventually(() => changes.length === 1);
    expect(changes).to.deep.equal([{ attachments: [{ filename: 'stored' }] }]);
  });

  it('are attached in the order in which they were chosen', async () => {
    const { requests } = start();
    const drafts = page.createDrafts('u2');
    const uploads = page.createUploads(drafts);
    const file = (name: string) => new File(['pixels'], name, { type: 'image/png' });
    uploads.add('c1', 'c1', [file('one.png'), file('two.png'), file('three.png')]);
    const [one, two, three] = await requests(3);
    three?.answer({ filename: 'stored-3' });
    one?.answer({ filename: 'stored-1' });
    two?.answer({ filename: 'stored-2' });
    await eventually(() => uploads.previewOf('stored-2') !== undefined);
    expect(drafts.of('c1').peek()).to.deep.include({ images: ['stored-1', 'stored-2', 'stored-3'] });
  });

  it('end when the user signs out, and store nothing any more', async () => {
    const { uploads, changes, requests } = start();
    const file = (name: string) => new File(['text'], name, { type: 'text/plain' });
    uploads.add('c1', 'c1', [file('one.txt'), file('two.txt')]);
    const [one, two] = await requests(2);
    one?.answer({ attachment: { filename: 'stored' } });
    uploads.stop();
    await new Promise((resolve) => setImmediate(resolve));
    expect(two?.isAborted).to.equal(true);
    expect(changes).to.deep.equal([]);
  });

  it('revokes the previews of images', async () => {
    const { uploads, changes, requests } = start();
    uploads.add('c1', 'c1', [new File(['pixels'], 'photo.png', { type: 'image/png' })]);
    (await requests(1))[0]?.answer({ filename: 'stored.png' });
    await eventually(() => changes.length === 1);
    expect(uploads.previewOf('stored.png')).to.match(/^blob:/);
    uploads.stop();
    expect(uploads.previewOf('stored.png')).to.equal(undefined);
  });

  it('are part of a message that waits for them, wherever the user is by then', async () => {
    const { requests } = start();
    const drafts = page.createDrafts('u1');
    const uploads = page.createUploads(drafts);
    const sent: object[][] = [];
    const sender = page.createDraftSender({ drafts, uploads, sending: { send: (...each) => sent.push(each) } });
    const stop = sender.start();
    uploads.add('c1', 'c1', [new File(['text'], 'notes.txt', { type: 'text/plain' })]);
    drafts.change('c1', { content: 'see this ' });
    const [request] = await requests(1);
    sender.send({ placeId: 'c1' });
    expect([sender.isWaiting('c1'), sent]).to.deep.equal([true, []]);
    request?.answer({ attachment: { filename: 'stored' } });
    await eventually(() => sent.length === 1);
    expect(sent[0]).to.deep.equal([
      { placeId: 'c1' },
      { content: 'see this', attachments: [{ filename: 'stored' }], images: [], quotedMessageId: null },
    ]);
    expect(sender.isWaiting('c1')).to.equal(false);
    expect(drafts.of('c1').peek()).to.include({ content: '' });
    stop();
  });
});
