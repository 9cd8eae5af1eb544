/** Serving web pages: revalidated documents, cached assets, and a strict content security policy. */
import { expect } from 'chai';
import { acceptsHtml, createWebPage, readOnce } from '../../adapters/http/server/web-page.js';
import { serveToys, type Toys } from './toy-http-service.js';

const html = { headers: { accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' } };

describe('served web page', () => {
  let toys: Toys;
  before(async () => {
    const page = createWebPage('meeting');
    toys = await serveToys([
      {
        method: 'GET',
        path: '/',
        summary: 'A page, or what programs get',
        answers: { 200: { description: 'It' } },
        handle: (request) => (acceptsHtml(request) ? page.document(request) : { status: 200, body: { name: 'toys' } }),
      },
      page.parts,
    ]);
  });
  after(() => toys?.close());

  const partsOf = (text: string) => [...text.matchAll(/(?:src|href)="(assets\/[^"]+)"/g)].map(([, path]) => path);

  it('is served to browsers, and JSON to programs', async () => {
    expect((await toys.ask('/', html)).headers.get('content-type')).to.equal('text/html; charset=utf-8');
    for (const accept of ['*/*', 'application/json'])
      expect((await toys.ask('/', { headers: { accept } })).json).to.deep.equal({ name: 'toys' });
    expect((await toys.ask('/', html)).headers.get('vary')).to.include('Accept');
  });

  it('restricts scripts, styles, connections and framing to itself, and has no inline code', async () => {
    const { headers, text } = await toys.ask('/', html);
    const rules = headers.get('content-security-policy')?.split('; ');
    expect(rules).to.include.members([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ]);
    expect(headers.get('x-content-type-options')).to.equal('nosniff');
    expect(text).to.not.match(/(?:src|href)="(?:https?:)?\/\//);
    expect(text).to.not.match(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });

  it('is revalidated each time, with 304 when unchanged', async () => {
    const { headers } = await toys.ask('/', html);
    expect(headers.get('cache-control')).to.equal('no-cache');
    const etag = headers.get('etag') ?? '';
    const again = await toys.ask('/', { headers: { ...html.headers, 'if-none-match': `"other", ${etag}` } });
    expect(again.status).to.equal(304);
    expect(again.text).to.equal('');
    const other = await toys.ask('/', { headers: { ...html.headers, 'if-none-match': '"other"' } });
    expect(other.status).to.equal(200);
  });

  it('has assets that are cached forever, and serves no other files', async () => {
    const parts = partsOf((await toys.ask('/', html)).text);
    expect(parts.map((path) => path?.replace(/^.*\./, ''))).to.have.members(['js', 'css', 'svg']);
    for (const path of parts) {
      const { status, headers, text } = await toys.ask(`/${path}`);
      expect(status, path).to.equal(200);
      expect(headers.get('cache-control'), path).to.include('immutable');
      expect(headers.get('content-type'), path).to.match(
        /^(?:text\/(?:css|javascript); charset=utf-8|image\/svg\+xml)$/,
      );
      expect(text, path).to.not.match(/(?:@import|url\(|import\()\s*["']?(?:https?:)?\/\//);
    }
    for (const name of ['index.html', 'page.js', '..%2f..%2fpackage.json', 'constructor', ''])
      expect((await toys.ask(`/assets/${name}`)).status, name).to.equal(404);
  });

  it('compresses assets for clients that accept it', async () => {
    const parts = partsOf((await toys.ask('/', html)).text);
    for (const path of parts) {
      const plain = await toys.ask(`/${path}`, { headers: { 'accept-encoding': 'identity' } });
      expect(plain.headers.get('content-encoding'), path).to.equal(null);
      expect(plain.headers.get('vary'), path).to.include('Accept-Encoding');
      for (const [accepted, encoding] of [
        ['gzip, deflate', 'gzip'],
        ['gzip, deflate, br, zstd', 'br'],
        ['br;q=0, GZIP;q=0.5', 'gzip'],
        ['gzip;q=0.0, br; q=0', null],
        ['brr', null],
      ] as const) {
        const { headers, text } = await toys.ask(`/${path}`, { headers: { 'accept-encoding': accepted } });
        expect(headers.get('content-encoding'), accepted).to.equal(encoding);
        expect(text, accepted).to.equal(plain.text);
      }
      for (const ending of ['br', 'gz']) expect((await toys.ask(`/${path}.${ending}`)).status).to.equal(404);
    }
  });

  it('is read once, and again after a failure', async () => {
    let tried = 0;
    const read = readOnce(async () => {
      if (++tried === 1) throw new Error('too many files are open');
      return 'it';
    });
    expect(await read().catch((error: Error) => error.message)).to.equal('too many files are open');
    expect([await read(), await read(), tried]).to.deep.equal(['it', 'it', 2]);
  });
});
