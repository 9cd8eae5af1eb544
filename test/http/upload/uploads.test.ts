/** Uploads in JSON bodies over HTTP: failed ones leave nothing behind, and slow ones do not block others. */
import { readdirSync } from 'node:fs';
import { request } from 'node:http';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { aes256gcm } from '../../../adapters/crypto/cipher.js';
import { createDirectoryStore } from '../../../adapters/filesystem/directory-store.js';
import { createBudget } from '../../../application/concurrency/limiters.js';
import { createSealedFiles } from '../../../application/secrets/encrypted-blobs.js';
import { fakeClock } from '../../support/fake-clock.js';
import { echo, serveToys, type Toys } from '../toy-http-service.js';

const LIMIT = 100_000;

describe('uploads', () => {
  let toys: Toys;
  let directory: ReturnType<typeof temporaryDirectory>;
  const budget = createBudget('uploads', 2);
  const time = fakeClock();
  before(async () => {
    directory = temporaryDirectory();
    const files = createSealedFiles(createDirectoryStore(directory.path), aes256gcm, 16);
    const text = { type: 'string' } as const;
    const route = echo({
      path: '/upload',
      body: {
        type: 'object',
        required: ['name', 'file'],
        properties: { name: text, file: text, more: text },
      },
      bodyLimit: 2 * LIMIT,
      uploads: { members: { file: LIMIT, more: 10 }, receive: files.receive },
      budget,
      async handle({ body, received }) {
        const sizes = Object.fromEntries([...received].map(([name, { size, head }]) => [name, [size, String(head)]]));
        return { status: 200, body: { body, sizes } };
      },
    });
    toys = await serveToys([route], {}, { after: time.after });
  });
  after(async () => {
    await toys.close();
    directory.remove();
  });
  const stored = () =>
    readdirSync(directory.path, { recursive: true, withFileTypes: true }).filter(
      (entry) => entry.isFile() && entry.name !== 'lock',
    ).length;
  const expectEmpty = () => eventually(() => stored() === 0 && budget.used() === 0);
  afterEach(expectEmpty);
  const base64 = (text: string) => Buffer.from(text).toString('base64');

  /** Starts a body that is never finished. */
  async function beginUpload(file = 'A'.repeat(400)) {
    const sending = request(`${toys.url}/upload`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    const answer = new Promise<number>((resolve) => {
      sending.on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      sending.on('error', () => resolve(0));
    });
    const before = stored();
    sending.write(`{"name":"x","file":"${file}`);
    await eventually(() => stored() > before);
    return { sending, answer };
  }

  it('are received by member, and deleted when the handler does not keep them', async () => {
    const { status, json } = await toys.post('/upload', {
      file: base64('hello'),
      name: 'x',
      more: base64('hi'),
    });
    expect(status).to.equal(200);
    expect(json).to.deep.equal({
      body: { file: '', name: 'x', more: '' },
      sizes: { file: [5, 'hello'], more: [2, 'hi'] },
    });
  });

  it('answer 400 to invalid or oversized members, 413 to oversized bodies, and leave nothing behind', async () => {
    const wrong: unknown[] = [
      { file: base64('x') },
      { name: 1, file: base64('x') },
      { name: 'x', file: 1 },
      { name: 'x', file: '!' },
      { name: 'x', file: Buffer.alloc(LIMIT + 1).toString('base64') },
      { name: 'x', file: base64('x'), more: base64('eleven bytes') },
      `{"name":"x","file":"${base64('x')}"`,
    ];
    for (const body of wrong) expect((await toys.post('/upload', body)).status).to.equal(400);
    expect((await toys.post('/upload', { name: 'x', file: 'A'.repeat(2 * LIMIT) })).status).to.equal(413);
    expect((await toys.post('/upload', { name: 'x'.repeat(LIMIT), file: '' })).status).to.equal(413);
    const typed = await toys.post('/upload', { name: 'x', file: '' }, { 'Content-Type': 'text/plain' });
    expect(typed.status).to.equal(415);
    const packed = await toys.post('/upload', { name: 'x', file: '' }, { 'content-encoding': 'gzip' });
    expect(packed.status).to.equal(400);
  });

  it('count against the budget while they arrive; excess ones get 429', async () => {
    const { sending } = await beginUpload();
    const refused = await toys.post('/upload', { name: 'x', file: base64('x') });
    expect(refused.status).to.equal(429);
    expect(refused.headers.get('retry-after')).to.match(/^\d+$/);
    sending.destroy();
    await expectEmpty();
    await expectEmpty();
    expect((await toys.post('/upload', { name: 'x', file: base64('x') })).status).to.equal(200);
  });

  it('end when their client disconnects', async () => {
    const { sending } = await beginUpload();
    sending.destroy();
  });

  it('are given up when they stall', async () => {
    const { answer } = await beginUpload();
    await time.pass(5000);
    await time.pass(5000);
    expect(await answer).to.equal(408);
  });
});
