/** Files over HTTP: accepted uploads, limits and downloads. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { SAMPLES } from '../../support/chat-fixtures.js';
import { type ChatWorld, pdf, read, startChat, uploaded, uploadFile } from '../../support/chat-scenario.js';
import type { Answered } from '../../support/http-spec.js';

const MEBIBYTE = 1024 * 1024;

describe('files of the chat', function () {
  this.timeout(120_000);
  let world: ChatWorld;
  before(async () => {
    world = await startChat();
  });
  after(() => world?.stop());

  const refused = ({ status, body }: Answered, expected: number) => {
    expect(status, JSON.stringify(body)).to.equal(expected);
    expect(body.error).to.be.a('string');
  };

  it('are returned as attachments, and downloaded unchanged with name and type', async () => {
    const bytes = pdf(200_001);
    const { status, body, headers } = await uploadFile(world, world.ada, 'Plan für Mai.PDF', bytes);
    expect(status).to.equal(200);
    expect(headers.get('position')).to.match(/^\d+$/);
    expect(body.success).to.equal(true);
    const { filename, ...rest } = body.attachment;
    expect(rest).to.deep.equal({
      originalName: 'Plan für Mai.PDF',
      contentType: 'application/pdf',
      size: bytes.length,
    });
    expect(filename).to.match(/^\d{13}-[\w-]{16,}\.pdf$/);
    expect(Math.abs(Number(filename.split('-')[0]) - Date.now())).to.be.lessThan(60_000);
    const found = await read(world, world.ada, `/files/${filename}`);
    expect(found.status).to.equal(200);
    expect(found.bytes.equals(bytes)).to.equal(true);
    const fields = Object.fromEntries(found.headers);
    expect(fields).to.deep.include({
      'content-type': 'application/pdf',
      'content-length': String(bytes.length),
      'x-content-type-options': 'nosniff',
      'accept-ranges': 'bytes',
    });
    expect(fields['content-disposition']).to.match(
      /^attachment; filename="[ -~]+\.PDF"; filename\*=UTF-8''Plan%20f%C3%BCr%20Mai\.PDF$/,
    );
    expect(fields.etag).to.match(/^"[^"]+"$/);
  });

  it('accept every documented extension in any case, and are never served as HTML', async () => {
    for (const [extension, bytes] of Object.entries(SAMPLES)) {
      const image = ['jpg', 'jpeg', 'png', 'webp', 'svg'].includes(extension);
      const { status, body } = await uploadFile(world, world.ada, `x.${extension.toUpperCase()}`, bytes, {
        contentType: 'text/html',
      });
      expect(status, extension).to.equal(image ? 400 : 200);
      if (image) continue;
      const { headers } = await read(world, world.ada, `/files/${body.attachment.filename}`);
      expect(headers.get('content-type')).to.equal(body.attachment.contentType);
      expect(headers.get('content-type')).not.to.include('html');
    }
  });

  it('accept Office files encrypted with a password', async () => {
    const encrypted = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(504)]);
    for (const extension of ['docx', 'xlsx', 'pptx']) {
      const { filename } = await uploaded(world, world.ada, `secret.${extension}`, encrypted);
      const { bytes, headers } = await read(world, world.ada, `/files/${filename}`);
      expect(bytes.equals(encrypted)).to.equal(true);
      expect(headers.get('content-type')).to.include('openxmlformats');
    }
  });

  it('reject invalid names and extensions', async () => {
    const names = [
      'x.html',
      'x.exe',
      'x.js',
      'x',
      '',
      '.pdf',
      'x.pdf.exe',
      'x.pdf/',
      'x.png',
      `${'x'.repeat(300)}.pdf`,
    ];
    for (const name of names) refused(await uploadFile(world, world.ada, name, pdf(10)), 400);
    for (const filename of [1, null, ['x.pdf']])
      refused(await uploadFile(world, world.ada, '', pdf(10), { filename }), 400);
  });

  it('use the last part of a path as name, and a generated name in the store', async () => {
    for (const name of [
      '../../../etc/x.pdf',
      '/etc/x.pdf',
      'C:\\a\\x.pdf',
      'x\u0000.pdf',
      'a\r\nSet-Cookie: x/x.pdf',
    ]) {
      const { filename, originalName } = await uploaded(world, world.ada, name);
      expect(originalName).to.equal('x.pdf');
      expect(filename).to.match(/^\d+-[\w-]+\.pdf$/);
    }
  });

  it('reject content of another type, empty content and invalid base64', async () => {
    const html = Buffer.from('<script>alert(1)</script>%PDF-1.7');
    for (const extension of ['pdf', 'zip', 'docx', 'doc', 'xlsx', 'pptx', 'ppt', 'xls'])
      refused(await uploadFile(world, world.ada, `x.${extension}`, html), 400);
    refused(await uploadFile(world, world.ada, 'x.txt', Buffer.from('%PDF-1.7')), 400);
    refused(await uploadFile(world, world.ada, 'x.pdf', ''), 400);
    refused(await uploadFile(world, world.ada, 'x.pdf', 'not base64!'), 400);
    refused(await uploadFile(world, world.ada, 'x.pdf', 'data:application/pdf,%PDF-1.7'), 400);
    for (const file of [undefined, null, 1, ['JVBERi0x'], { a: 1 }])
      refused(await uploadFile(world, world.ada, 'x.pdf', '', { file }), 400);
    refused(await world.as(world.ada, 'POST', '/files', '{"filename":"x.pdf","file":"JVBERi0x'), 400);
    refused(
      await world.as(world.ada, 'POST', '/files', '{"file":"JVBERi0x","filename":"x.pdf","file":"JVBERi0x"}'),
      400,
    );
    refused(await world.as(world.ada, 'POST', '/files', '[1]'), 400);
    refused(await world.as(world.ada, 'POST', '/files', ''), 400);
  });

  it('accept data URLs, members in any order, escapes and compressed bodies', async () => {
    const bytes = pdf(5000);
    const base64 = bytes.toString('base64');
    const json = JSON.stringify({ file: `data:application/pdf;base64,${base64}`, filename: 'x.pdf' });
    for (const body of [json, json.replaceAll('/', '\\/'), json.replaceAll('+', '\\u002B')]) {
      const { attachment } = await world.done(world.ada, 'POST', '/files', body);
      expect((await read(world, world.ada, `/files/${attachment.filename}`)).bytes.equals(bytes)).to.equal(true);
    }
    const response = await fetch(`${world.base}/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${world.ada.token}`,
        'content-type': 'application/json; charset=utf-8',
        'content-encoding': 'gzip',
      },
      body: gzipSync(json),
    });
    expect(response.status).to.equal(200);
  });

  it('accept 25 MiB, and reject one byte more', async () => {
    const bytes = pdf(25 * MEBIBYTE);
    const { filename, size } = await uploaded(world, world.ada, 'large.pdf', bytes);
    expect(size).to.equal(bytes.length);
    const found = await read(world, world.ada, `/files/${filename}`);
    const digest = (of: Buffer) => createHash('sha256').update(of).digest('hex');
    expect(digest(found.bytes)).to.equal(digest(bytes));
    refused(await uploadFile(world, world.ada, 'large.pdf', Buffer.concat([bytes, Buffer.from('x')])), 400);
    refused(await uploadFile(world, world.ada, 'large.pdf', 'A'.repeat(45 * MEBIBYTE)), 413);
  });

  it('are uploaded once per key, which rejects another body', async () => {
    const headers = { 'idempotency-key': 'upload-1' };
    const body = { filename: 'x.pdf', file: pdf(100).toString('base64') };
    const first = await world.as(world.ada, 'POST', '/files', body, { headers });
    const again = await world.as(world.ada, 'POST', '/files', body, { headers });
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.equal(first.body);
    const other = { ...body, file: pdf(100).toString('base64') };
    refused(await world.as(world.ada, 'POST', '/files', other, { headers }), 422);
    const found = await read(world, world.ada, `/files/${first.body.attachment.filename}`);
    expect(found.bytes.toString('base64')).to.equal(body.file);
  });

  it('support ranges and conditional requests', async () => {
    const bytes = pdf(150_000);
    const { filename } = await uploaded(world, world.ada, 'x.pdf', bytes);
    const path = `/files/${filename}`;
    const etag = (await read(world, world.ada, path)).headers.get('etag')!;
    const parts = [
      ['bytes=0-0', 0, 1],
      ['bytes=65530-131080', 65_530, 131_081],
      ['bytes=149999-', 149_999, 150_000],
      ['bytes=-5', 149_995, 150_000],
      ['bytes=-999999', 0, 150_000],
      ['bytes=10-999999', 10, 150_000],
    ] as const;
    for (const [range, from, to] of parts) {
      const found = await read(world, world.ada, path, { range });
      expect(found.status, range).to.equal(206);
      expect(found.headers.get('content-range')).to.equal(`bytes ${from}-${to - 1}/150000`);
      expect(found.bytes.equals(bytes.subarray(from, to)), range).to.equal(true);
    }
    for (const range of ['bytes=150000-', 'bytes=-0']) {
      const found = await read(world, world.ada, path, { range });
      expect(found.status, range).to.equal(416);
      expect(found.headers.get('content-range')).to.equal('bytes */150000');
      expect(JSON.parse(String(found.bytes)).error).to.be.a('string');
    }
    for (const range of ['bytes=5-1', 'bytes=a-b', 'lines=1-2', 'bytes=0-1,5-6', 'bytes=-']) {
      expect((await read(world, world.ada, path, { range })).status, range).to.equal(200);
    }
    const part = { range: 'bytes=0-9' };
    expect((await read(world, world.ada, path, { ...part, 'if-range': etag })).status).to.equal(206);
    expect((await read(world, world.ada, path, { ...part, 'if-range': '"other"' })).status).to.equal(200);
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const found = await read(world, world.ada, path, { 'if-none-match': known });
      expect([found.status, found.bytes.length], known).to.deep.equal([304, 0]);
      expect(found.headers.get('etag')).to.equal(etag);
    }
    expect((await read(world, world.ada, path, { 'if-none-match': '"other"' })).status).to.equal(200);
    expect((await read(world, world.cyd, path, { 'if-none-match': etag })).status).to.equal(404);
    const head = await read(world, world.ada, path, {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), head.bytes.length]).to.deep.equal([200, '150000', 0]);
  });
});
