/** Rooms under attack: malformed input on every route, and posts racing a burn. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findRuntime } from '@annals/engines/internal/supervisor/runtime-file.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import fc from 'fast-check';
import { MongoClient } from 'mongodb';
import { type RawAnswer, send } from '../support/http-spec.js';
import { call, createRoom, joinRoom, type RoomClient } from '../support/room-client.js';
import { ANNALS, type Server, startServer } from '../support/server-process.js';

describe('a room under attack', () => {
  const directory = temporaryDirectory();
  let server: Server;
  let base: string;
  let ada: RoomClient;

  before(async () => {
    server = await startServer(directory.path, ['rooms', '--rooms-create-per-hour', '100000']);
    base = server.urls.rooms ?? '';
    ada = await createRoom(base, 'Ada');
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const appended = async () => {
    const metrics = await (await fetch(`${server.urls.operations}/metrics`)).text();
    return /^annals_events_appended_total\{service="rooms"\} (\d+)/m.exec(metrics)?.[1];
  };

  const junk = fc.oneof(
    fc.json().map((text) => Buffer.from(text)),
    fc.jsonValue().map((value) => Buffer.from(JSON.stringify({ participantName: value, signingPublicKey: value }))),
    fc
      .record({ kty: fc.jsonValue(), crv: fc.jsonValue(), x: fc.jsonValue(), y: fc.jsonValue() })
      .map((signingPublicKey) => Buffer.from(JSON.stringify({ signingPublicKey, inviteToken: 'x'.repeat(20) }))),
    fc
      .dictionary(fc.constantFrom('keyVersion', 'chainId', 'nonce', 'ciphertext', '__proto__'), fc.jsonValue())
      .map((value) => Buffer.from(JSON.stringify(value))),
    fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes)),
    fc.constant(Buffer.from('{"a":'.repeat(5000))),
    fc.constant(Buffer.from(`{"inviteToken":"${'a'.repeat(70_000)}"}`)),
    fc.constant(Buffer.alloc(0)),
  );
  const anyId = fc.oneof(
    fc.constantFrom('x', '%00', '%ff', '..%2f..', '$$rooms', 'a'.repeat(3000), '%F0%9F%A7%B5'),
    fc.string({ maxLength: 30 }).map((text) => encodeURIComponent(text.replace(/[\ud800-\udfff]/g, ''))),
  );
  const token = fc.oneof(fc.constant(undefined), fc.constantFrom('', 'x', 'é', 'a'.repeat(43)), fc.base64String());
  const route = fc.constantFrom<readonly [string, (room: string) => string]>(
    ['POST', () => '/rooms'],
    ['POST', (room) => `/rooms/${room}/invites`],
    ['POST', (room) => `/rooms/${room}/join`],
    ['GET', (room) => `/rooms/${room}/state?after=%zz`],
    ['POST', (room) => `/rooms/${room}/messages`],
    ['POST', (room) => `/rooms/${room}/burn`],
    ['DELETE', (room) => `/rooms/${room}`],
    ['GET', (room) => `/rooms/${room}/events?token=%00&lastEventId=x`],
    ['PATCH', (room) => `/rooms/${room}/state`],
    ['POST', (room) => `/${room}`],
  );
  const contentType = fc.constantFrom('application/json', 'application/json; charset=utf-16', 'text/plain', 'x');
  const encoding = fc.constantFrom(undefined, 'gzip', 'br', 'nonsense');

  const isRefused = ({ status, text }: RawAnswer) => {
    expect(status, text).to.be.within(400, 499);
    const { error, code } = JSON.parse(text);
    expect(error)
      .to.be.a('string')
      .and.not.match(/node_modules|\n\s+at |rooms\.room-/);
    expect(code).to.be.a('string');
  };

  it('refuses malformed input on every route and stores nothing', async function () {
    this.timeout(120_000);
    const before = await appended();
    const malformed = fc.record({ route, room: anyId, body: junk, token, contentType, encoding });
    await fc.assert(
      fc.asyncProperty(malformed, fc.boolean(), async (input, known) => {
        const [method, path] = input.route;
        // With an existing room but no token, or with a token and an invalid body.
        const room = known ? ada.roomId : input.room;
        const bearer = known && path(room).endsWith('/messages') ? ada.sessionToken : input.token;
        const headers = {
          'content-type': input.contentType,
          'content-length': String(input.body.length),
          ...(input.encoding ? { 'content-encoding': input.encoding } : {}),
          ...(bearer === undefined ? {} : { authorization: `Bearer ${Buffer.from(bearer).toString('latin1')}` }),
        };
        isRefused(await send(base, { method, path: path(room), headers, body: input.body }));
      }),
      { numRuns: 300 },
    );
    expect(await appended()).to.equal(before);
    expect((await fetch(`${base}/health`)).status).to.equal(200);
    expect(server.lines.filter((line) => line.includes('a request failed'))).to.deep.equal([]);
    expect((await ada.state()).messages).to.deep.equal([]);
  });

  it('leaves nothing readable after a burn, despite many concurrent posts', async () => {
    const people = [await createRoom(base, 'Grace')];
    for (let guest = 0; guest < 5; guest++)
      people.push(await joinRoom(base, await people[0]!.invite(), `Guest ${guest}`));
    const [host] = people;
    const { roomId } = host!;
    let burned = false;
    const statuses: number[] = [];
    const storm = people.map(async (person) => {
      for (let index = 0; index < 35 && !burned; index++) {
        const body = await person.seal(`storm ${index}`);
        const { status } = await call(base, 'POST', `/rooms/${roomId}/messages`, {
          token: person.sessionToken,
          body,
        });
        statuses.push(status);
      }
    });
    while (statuses.length < 30) await new Promise((resolve) => setImmediate(resolve));
    const answer = await call(base, 'POST', `/rooms/${roomId}/burn`, { token: host!.sessionToken });
    expect(answer.body).to.deep.equal({ success: true });
    for (const { sessionToken: mine } of people) {
      expect((await call(base, 'GET', `/rooms/${roomId}/state`, { token: mine })).status).to.equal(404);
    }
    burned = true;
    await Promise.all(storm);
    const others = statuses.filter((status) => status !== 201 && status !== 429);
    expect(others.filter((status) => status !== 404)).to.deep.equal([]);

    const history = await replayed(roomId);
    expect(history.some(({ type }) => type === 'RoomBurned')).to.equal(true);
    const secrets = history.flatMap(({ data }) => (data.secret ? [data.secret] : []));
    expect(secrets.length).to.be.greaterThan(30);
    for (const secret of secrets) {
      expect(secret).to.be.deep.oneOf([{ envelope: null }, { name: 'Unknown Guest', signingPublicKey: null }]);
    }
    // Wait for the read model to catch up.
    while ((await rowsOf(roomId)).length > 0) await new Promise((resolve) => setImmediate(resolve));
  });

  /** The decoded log of a room after its erasure, as an auditor reads it. */
  async function replayed(roomId: string) {
    for (;;) {
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [ANNALS, 'replay', '--format', 'ndjson', '--data-dir', directory.path],
        { maxBuffer: 1 << 26 },
      );
      const events = stdout
        .split('\n')
        .filter((line) => line.includes(roomId))
        .map((line) => JSON.parse(line) as { type: string; data: { secret?: object } });
      if (events.some(({ type }) => type === 'RoomErased')) return events;
    }
  }

  /** What remains in any read model collection. */
  async function rowsOf(roomId: string) {
    const client = await MongoClient.connect(findRuntime(directory.path)?.mongoUrl ?? '');
    try {
      const models = client.db('annals');
      const collections = (await models.listCollections().toArray()).filter(({ name }) => name.startsWith('rooms_'));
      expect(collections).to.have.length.greaterThan(0);
      const found = collections.map(({ name }) => models.collection(name).find({ room: roomId }).toArray());
      return (await Promise.all(found)).flat();
    } finally {
      await client.close();
    }
  }
});
