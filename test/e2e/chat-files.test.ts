/** Chat files with real processes: nothing in clear on disk, and nothing partial after a crash. */
import { randomBytes } from 'node:crypto';
import { rmSync, statSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { SAMPLES } from '../support/chat-fixtures.js';
import { pdf, read, uploaded, uploadFile } from '../support/chat-scenario.js';
import { type Answered, ask, devLogin, type Member } from '../support/http-spec.js';
import { bytesIn, filesIn, type Server, shownIn, startServer } from '../support/server-process.js';

const EMAIL = 'admin@localhost';

/** The node interface that the upload helpers expect. */
const worldOf = (server: Server) => {
  const base = server.urls.chat ?? '';
  const as = (
    who: Member | undefined,
    method: string,
    path: string,
    body?: unknown,
    more: object = {},
  ): Promise<Answered> => ask(base, method, path, { token: who?.token, body, ...more });
  return { base, as };
};

/** Disables locks between processes. */
const storedIn = (directory: string, part: 'kept' | 'new'): string[] =>
  filesIn(join(directory, 'files', part)).filter((file) => !file.endsWith('lock'));

describe('chat files on disk', function () {
  this.timeout(180_000);
  let directory: ReturnType<typeof temporaryDirectory>;
  let server: Server;
  beforeEach(async () => {
    directory = temporaryDirectory();
    server = await startServer(directory.path, ['chat']);
  });
  afterEach(async () => {
    await server.stop('SIGKILL');
    directory.remove();
  });

  it('contain no plaintext of contents or names', async () => {
    const world = worldOf(server);
    const admin = await devLogin(world.base, EMAIL);
    const words = 'the xylophone is in quarantine\n'.repeat(5000);
    const file = await uploaded(world, admin, 'velociraptor.txt', Buffer.from(words));
    const { channels } = (await world.as(admin, 'GET', '/channels')).body;
    const at = `/channels/${channels[0].id}/messages`;
    const image = Buffer.concat([SAMPLES.png!, Buffer.from('pangolin '.repeat(100))]).toString('base64');
    const thumbnail = Buffer.concat([SAMPLES.png!, Buffer.from('narwhal '.repeat(100))]).toString('base64');
    const put = await world.as(admin, 'POST', `${at}/image`, {
      filename: 'wombat in a wardrobe.png',
      image,
      thumbnail,
    });
    expect(put.status).to.equal(200);
    const post = await world.as(admin, 'POST', at, { attachments: [file], images: [put.body.filename] });
    expect(post.status).to.equal(200);
    await server.stop();
    const everything = bytesIn(directory.path);
    // The sealed data is present, so that searching for plaintext is a valid check.
    expect(everything.includes('chat.file-')).to.equal(true);
    expect(storedIn(directory.path, 'kept').length).to.equal(3);
    const texts = [
      'xylophone is in quarantine',
      'velociraptor.txt',
      'pangolin pangolin',
      'narwhal narwhal',
      'wombat in a wardrobe',
    ];
    expect(shownIn(everything, texts)).to.deep.equal([]);
  });

  it('are complete or absent after a crash: acknowledged files are readable, partial ones are removed', async () => {
    const admin = await devLogin(server.urls.chat!, EMAIL);
    const stored: { readonly filename: string; readonly bytes: Buffer }[] = [];
    for (let round = 0; round < 3; round++) {
      const world = worldOf(server);
      // One upload is certainly in the middle of its body; others anywhere.
      const half = request(`${world.base}/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
      });
      half.on('error', () => {});
      half.write(`{"filename":"x.pdf","file":"${pdf(3_000_000).toString('base64')}`);
      await eventually(() => storedIn(directory.path, 'new').some((file) => statSync(file).size > 1_000_000));
      const acknowledged: unknown[] = [];
      const uploading = Array.from({ length: 20 }, async (_, n) => {
        const bytes = pdf(200_000 + n);
        const { filename } = await uploaded(world, admin, `${round}-${n}.pdf`, bytes);
        stored.push({ filename, bytes });
        acknowledged.push(filename);
      });
      // Some uploads are cut off.
      const uploads = Promise.allSettled(uploading);
      await eventually(() => acknowledged.length >= 3);
      await server.stop('SIGKILL');
      await uploads;
      server = await startServer(directory.path, ['chat']);
      for (const { filename, bytes } of stored) {
        const found = await read(worldOf(server), admin, `/files/${filename}`);
        expect(found.status).to.equal(200);
        expect(found.bytes.equals(bytes)).to.equal(true);
      }
      await eventually(() => storedIn(directory.path, 'new').length === 0);
    }
    expect(storedIn(directory.path, 'kept').length).to.be.at.least(stored.length);
  });

  it('are reported missing at start when their directory is lost, while everything else works', async () => {
    const admin = await devLogin(server.urls.chat!, EMAIL);
    const { filename } = await uploaded(worldOf(server), admin);
    await server.stop();
    rmSync(join(directory.path, 'files'), { recursive: true });
    server = await startServer(directory.path, ['chat']);
    const report = () => server.lines.find((line) => line.includes('uploaded files are missing'));
    await eventually(() => report() !== undefined);
    expect(JSON.parse(report()!)).to.include({ lost: 1, looked: 1, store: join(directory.path, 'files') });
    const world = worldOf(server);
    expect((await read(world, admin, `/files/${filename}`)).status).to.equal(404);
    await eventually(() => server.lines.some((line) => line.includes('missing or damaged in the file store')));
    const another = await uploaded(world, admin);
    expect((await read(world, admin, `/files/${another.filename}`)).status).to.equal(200);
  });

  it('are shared by all processes of a machine', async () => {
    const other = await startServer(directory.path, ['chat']);
    try {
      const [one, two] = [worldOf(server), worldOf(other)];
      const admin = await devLogin(one.base, EMAIL);
      const bytes = randomBytes(100_000);
      bytes.write('%PDF-1.7');
      const { status, body, headers } = await uploadFile(one, admin, 'x.pdf', bytes);
      expect(status).to.equal(200);
      const seen = { 'if-position': headers.get('position') ?? '' };
      const found = await read(two, admin, `/files/${body.attachment.filename}`, seen);
      expect(found.status).to.equal(200);
      expect(found.bytes.equals(bytes)).to.equal(true);
    } finally {
      await other.stop();
    }
  });
});
