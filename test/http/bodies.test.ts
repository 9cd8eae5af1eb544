/** Request bodies: limits on size, compression and nesting, and the errors for invalid ones. */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { problem } from '../../adapters/http/server/policy.js';
import { listLimit } from '../../adapters/http/server/validate.js';
import { echo, serveToys, type Toys } from './toy-http-service.js';

const toy = {
  type: 'object',
  required: ['name', 'part'],
  properties: {
    name: { type: 'string', minLength: 2, maxLength: 5 },
    part: {
      type: 'object',
      required: ['x'],
      properties: { x: { type: 'string', title: 'Coordinate', pattern: '^\\d+$' } },
    },
    tagList: { type: 'array', items: { type: 'string' }, maxItems: 2 },
    free: { type: 'object' },
  },
};
const good = { name: 'Ann', part: { x: '1' } };

describe('request bodies', () => {
  let toys: Toys;
  before(async () => {
    toys = await serveToys(
      [
        echo({ path: '/toys', body: toy, bodyLimit: 2000 }),
        echo({ path: '/pin', body: { type: 'object', properties: { note: { type: 'string' } } } }),
        echo({ path: '/short', body: { type: 'object' }, bodyLimit: 100 }),
        echo({
          path: '/pin',
          method: 'DELETE',
          body: { type: 'object', properties: { note: { type: 'string' } } },
        }),
        echo({
          path: '/pin',
          method: 'GET',
          body: { type: 'object', properties: { note: { type: 'string' } } },
        }),
        echo({
          path: '/beacon',
          anyContentType: true,
          body: { type: 'object', properties: { note: { type: 'string' } } },
        }),
        echo({
          path: '/raw',
          body: 'bytes',
          bodyLimit: 1000,
          handle: ({ body }) => ({ status: 200, body: { bytes: (body as Buffer).toString('hex') } }),
        }),
        echo({
          path: '/list',
          method: 'GET',
          query: {
            type: 'object',
            properties: {
              limit: listLimit({ initial: 20, max: 50 }),
              tag: { type: 'string' },
              deep: { type: 'boolean' },
            },
          },
        }),
        echo({
          path: '/policy',
          strictBody: true,
          body: {
            type: 'object',
            additionalProperties: false,
            properties: { windowMinutes: { type: 'integer' } },
          },
        }),
        echo({ path: '/door', admit: () => problem(401, 'Unauthorized'), body: toy }),
      ],
      {
        invalid: ({ keyword, message, field }) =>
          keyword === 'maxItems' ? problem(413, `${message} (${field})`) : undefined,
      },
    );
  });
  after(() => toys.close());

  it('measures texts in characters, not in UTF-16 code units', async () => {
    const status = async (name: string) => (await toys.post('/toys', { ...good, name })).status;
    const long = ['\u{1F600}'.repeat(5), '\u{1F600}'.repeat(6), `\u{1F600}${'n'.repeat(4)}`, 'n'.repeat(6)];
    expect(await Promise.all([...long, 'n'.repeat(11)].map(status))).to.deep.equal([200, 400, 200, 400, 400]);
  });

  it('reads JSON whatever the charset says', async () => {
    for (const type of [
      'application/json',
      'application/json; charset=latin1',
      'application/json;charset',
      'application/ld+json',
      'APPLICATION/JSON;;',
    ]) {
      const { status, json } = await toys.post('/toys', good, { 'Content-Type': type });
      expect([type, status, json.body]).to.deep.equal([type, 200, good]);
    }
  });

  it('reads JSON without a content type', async () => {
    const { status, json } = await toys.ask('/toys', {
      method: 'POST',
      body: Buffer.from(JSON.stringify(good)),
    });
    expect([status, json.body]).to.deep.equal([200, good]);
  });

  it('treats an empty body as an empty object, on every method', async () => {
    const headers = { 'Content-Type': 'application/json' };
    for (const method of ['POST', 'DELETE', 'GET']) {
      const { status, json } = await toys.ask('/pin', { method, headers });
      expect([method, status, json.body]).to.deep.equal([method, 200, {}]);
    }
    const { status } = await toys.ask('/pin', { method: 'DELETE', headers, body: '{"note":"x"}' });
    expect(status).to.equal(200);
  });

  it('rejects invalid JSON with 400', async () => {
    for (const text of ['{', 'x', '{"name":}', '{"a":1}}', '\u0000', '{a:1}', "{'a':1}"]) {
      const { status, json } = await toys.post('/toys', text);
      expect([text, status, json.error]).to.deep.equal([text, 400, 'The body is not valid JSON']);
    }
  });

  it('rejects invalid UTF-8, and keeps valid UTF-8 unchanged', async () => {
    const broken = Buffer.concat([Buffer.from('{"note":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}')]);
    const headers = { 'Content-Type': 'application/json' };
    expect((await toys.ask('/pin', { method: 'POST', headers, body: broken })).status).to.equal(400);
    const { json } = await toys.post('/pin', { note: 'Zoë 🎉 \ufffd' });
    expect(json.body).to.deep.equal({ note: 'Zoë 🎉 \ufffd' });
  });

  it('rejects unpaired surrogates in texts and names, unless the route accepts any content type', async () => {
    const halves = [
      '{"note":"a\\ud83d"}',
      '{"note":"\\uDE00\\uD83D"}',
      '{"\\ud83d":1,"note":"x"}',
      '{"note":"x","more":["\\\\","\\udfff"]}',
    ];
    for (const text of halves) {
      const { status, json } = await toys.post('/pin', text);
      expect([text, status]).to.deep.equal([text, 400]);
      expect(json.error).to.match(/half a character/);
    }
    expect((await toys.post('/beacon', halves[0]!)).status).to.equal(200);
    const whole = '{"note":"\\ud83d\\uDE00 \\\\ud83d"}';
    expect((await toys.post('/pin', whole)).json.body).to.deep.equal({ note: '😀 \\ud83d' });
  });

  it('rejects other content types with 415, unless the route accepts any', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const headers = { 'Content-Type': type };
      expect((await toys.post('/toys', good, headers)).status, type).to.equal(415);
      expect((await toys.post('/beacon', { note: 'x' }, headers)).json.body, type).to.deep.equal({
        note: 'x',
      });
    }
  });

  it('names the invalid field in one sentence', async () => {
    const cases: [unknown, number, string][] = [
      [{ part: { x: '1' } }, 400, 'Name is required'],
      [{ ...good, name: '' }, 400, 'Name is required'],
      [{ ...good, name: 'A' }, 400, 'Name is too short'],
      [{ ...good, name: 'Annabel' }, 400, 'Name is too long'],
      [{ ...good, name: 7 }, 400, 'Name is invalid'],
      [{ ...good, name: null }, 400, 'Name is invalid'],
      [{ ...good, part: {} }, 400, 'Coordinate is required'],
      [{ ...good, part: { x: 'one' } }, 400, 'Coordinate is invalid'],
      [{ ...good, part: [] }, 400, 'Part is invalid'],
      [{ ...good, tagList: ['a', 3] }, 400, 'Tag list is invalid'],
      [{ ...good, tagList: ['a', 'b', 'c'] }, 413, 'Tag list is too long (tagList)'],
      [[], 400, 'The body is invalid'],
      ['null', 400, 'The body is invalid'],
      ['7', 400, 'The body is invalid'],
    ];
    for (const [body, status, error] of cases) {
      const answer = await toys.post('/toys', body);
      expect([body, answer.status, answer.json.error]).to.deep.equal([body, status, error]);
    }
  });

  it('drops fields that the schema does not name, at any depth', async () => {
    const text =
      '{"name":"Ann","part":{"x":"1","d":"private"},"isAdmin":true,"__proto__":{"isAdmin":true},"constructor":1}';
    const { status, json } = await toys.post('/toys', text);
    expect([status, json.body]).to.deep.equal([200, good]);
  });

  it('rejects fields that the schema does not name where the route is strict', async () => {
    expect((await toys.post('/policy', { windowMinutes: 5 })).json.body).to.deep.equal({ windowMinutes: 5 });
    const { status, json } = await toys.post('/policy', { windowMinute: 5 });
    expect([status, json.error]).to.deep.equal([400, 'Window minute is not known']);
  });

  it('survives deeply nested JSON', async () => {
    const deep = '['.repeat(30_000) + ']'.repeat(30_000);
    expect((await toys.post('/pin', deep)).status).to.equal(400);
    expect((await toys.post('/pin', `{"note":"x","z":${deep}}`)).json.body).to.deep.equal({ note: 'x' });
  });

  it('rejects a body over the limit, announced or not, and keeps the connection usable', async () => {
    const large = JSON.stringify({ ...good, free: { a: 'x'.repeat(3000) } });
    expect((await toys.post('/toys', large)).status).to.equal(413);
    const body = new ReadableStream({
      pull(controller) {
        controller.enqueue(Buffer.from('x'.repeat(1500)));
        if (++sent === 4) controller.close();
      },
    });
    let sent = 0;
    const headers = { 'Content-Type': 'application/json' };
    const answer = await toys.ask('/toys', { method: 'POST', headers, body, duplex: 'half' });
    expect([answer.status, answer.json]).to.deep.equal([413, { error: 'The body is too large' }]);
    expect((await toys.post('/toys', good)).status).to.equal(200);
  });

  it('accepts list limits written in digits only, however many', async () => {
    for (const limit of ['1e400', '-1e400', 'Infinity', '1e1', '0x10', '%205', '1.0', '%2B5', '5&limit=6'])
      expect((await toys.ask(`/list?limit=${limit}`)).status, limit).to.equal(400);
    expect((await toys.ask(`/list?limit=1${'0'.repeat(400)}`)).json.query).to.deep.equal({ limit: 50 });
  });

  it('accepts a body of exactly the limit, and rejects one byte more', async () => {
    const headers = { 'Content-Type': 'application/json' };
    const text = (bytes: number) => `{"note":"${'x'.repeat(bytes - 11)}"}`;
    const streamed = (bytes: number) => new Blob([text(bytes)]).stream();
    for (const [path, limit] of [
      ['/short', 100],
      ['/pin', 64 * 1024],
    ] as const) {
      const announced = (bytes: number) => toys.post(path, text(bytes));
      const unannounced = (bytes: number) =>
        toys.ask(path, { method: 'POST', headers, body: streamed(bytes), duplex: 'half' });
      for (const send of [announced, unannounced]) {
        expect((await send(limit)).status, path).to.equal(200);
        expect((await send(limit + 1)).status, path).to.equal(413);
      }
    }
  });

  it('passes the raw bytes to routes that ask for them', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), async (bytes, compressed) => {
        const body = compressed ? gzipSync(bytes) : Buffer.from(bytes);
        const headers = { 'Content-Type': 'text/x', ...(compressed ? { 'Content-Encoding': 'gzip' } : {}) };
        const { json } = await toys.ask('/raw', { method: 'POST', headers, body });
        expect(json.bytes).to.equal(Buffer.from(bytes).toString('hex'));
      }),
      { numRuns: 60 },
    );
  });

  it('applies the limit to decompressed bodies, and rejects broken ones', async () => {
    const send = (body: Buffer, encoding = 'gzip') =>
      toys.ask('/raw', { method: 'POST', headers: { 'Content-Encoding': encoding }, body });
    expect((await send(gzipSync(Buffer.alloc(1001)))).status).to.equal(413);
    expect((await send(gzipSync(Buffer.alloc(1000)))).status).to.equal(200);
    expect((await send(Buffer.from('not gzip at all'))).status).to.equal(400);
    expect((await send(gzipSync('cut short').subarray(0, 12))).status).to.equal(400);
    expect((await send(Buffer.from('x'), 'br')).status).to.equal(415);
  });

  it('authenticates the caller before reading the body', async () => {
    expect((await toys.post('/door', '{')).status).to.equal(401);
  });

  it('converts query parameters, clamps list limits and rejects invalid ones', async () => {
    expect((await toys.ask('/list')).json.query).to.deep.equal({ limit: 20 });
    expect((await toys.ask('/list?limit=7&tag=5&deep=true&x=1')).json.query).to.deep.equal({
      limit: 7,
      tag: '5',
      deep: true,
    });
    expect((await toys.ask('/list?limit=900')).json.query).to.deep.equal({ limit: 50 });
    for (const limit of ['0', '-1', '1.5', 'ten', 'NaN', '1&limit=2', '1e400', '-1e400', 'Infinity']) {
      const { status, json } = await toys.ask(`/list?limit=${limit}`);
      expect([limit, status, json.error]).to.deep.equal([limit, 400, 'Limit is invalid']);
    }
    expect((await toys.ask('/list?__proto__=1&tag=%zz')).status).to.equal(200);
  });
});
