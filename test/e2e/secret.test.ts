/** The secret that wraps keys, for operators: generated, refused, rotated under a running node, masked. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findRuntime } from '@annals/engines/internal/supervisor/runtime-file.js';
import { eventually } from '@annals/engines/testing/condition.js';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { Binary, MongoClient } from 'mongodb';
import { wrappingUnder } from '../../adapters/crypto/wrapping.js';
import type { KeyRow } from '../../adapters/mongo/keys/key-rows.js';
import { call, createRoom, type Entered } from '../support/room-client.js';
import { FREE_PORTS, run, type Server, start, startServer } from '../support/server-process.js';

const MANY = 20_000;
const ROOM = {
  participantName: 'Ada',
  signingPublicKey: {
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  },
};

describe('the secret of an installation', function () {
  this.timeout(120_000);
  const directory = temporaryDirectory();
  const secret = () => readFileSync(join(directory.path, 'secret'), 'utf8').trim();
  const rotate = ['keys', 'rotate', '--data-dir', directory.path];
  let server: Server;
  before(async () => {
    server = await startServer(directory.path, ['rooms']);
  });
  after(async () => {
    await server.stop();
    directory.remove();
  });

  const rooms = () => server.urls.rooms ?? '';
  /** The same create command every time: one room, one token. */
  const create = async () => {
    const headers = { 'idempotency-key': 'ada-and-only-ada' };
    const { body } = await call<Entered>(rooms(), 'POST', '/rooms', { body: ROOM, headers });
    return { roomId: body.roomId, sessionToken: body.sessionToken };
  };

  it('is rotated under a running node: tokens, idempotency and rooms keep working', async () => {
    const created = await create();
    const ada = await createRoom(rooms(), 'Ada');
    const { id } = await ada.post('for us alone');
    const state = async () => {
      const path = `/rooms/${ada.roomId}/state`;
      const { status, body } = await call<{ messages: { id: string }[] }>(rooms(), 'GET', path, {
        token: ada.sessionToken,
      });
      return { status, ids: body.messages?.map((message) => message.id) };
    };
    const former = secret();

    const rotated = await run(rotate);
    expect(rotated).to.include({ code: 0, stderr: '' });
    expect(rotated.stdout).to.match(/^\d+ keys? rewrapped with the new secret\n$/);
    expect(secret()).not.to.equal(former);
    expect(rotated.stdout + server.lines.join()).not.to.contain(secret());

    expect(await state()).to.deep.equal({ status: 200, ids: [id] });
    expect(await create()).to.deep.equal(created);
    expect(await (await createRoom(rooms(), 'Bob')).post('after it')).to.have.property('id');

    await server.stop();
    server = await startServer(directory.path, ['rooms']);
    expect(await state()).to.deep.equal({ status: 200, ids: [id] });
    expect(await create()).to.deep.equal(created);
  });

  it('loses no key when its rotation is killed and run again', async () => {
    const client = await MongoClient.connect(findRuntime(directory.path)?.mongoUrl ?? '');
    const rows = client.db('annals_keys').collection<KeyRow>('keys');
    const former = wrappingUnder(secret());
    const keys = new Map(Array.from({ length: MANY }, (_, n) => [`room:many-${n}`, randomBytes(32)]));
    const wrapped = (name: string, key: Buffer) => new Binary(former.wrap(name, key));
    await rows.insertMany([...keys].map(([_id, key]) => ({ _id, wrapped: wrapped(_id, key), under: former.id })));

    const rotating = start(rotate);
    await eventually(async () => (await rows.findOne({ under: { $ne: former.id } })) !== null);
    rotating.process.kill('SIGKILL');
    await rotating.ended;
    const isPartial = (await rows.findOne({ under: former.id })) !== null;
    const again = await run(rotate);
    expect(again.code).to.equal(0);
    // The lease of the killed rotation has expired if starting the command took long.
    expect(again.stderr).to.match(/^(annals: [^\n]* waiting up to 10 s for its lease to expire\n)?$/);
    expect(isPartial).to.equal(true);

    const current = wrappingUnder(secret());
    const all = await rows.find().toArray();
    expect(all.filter(({ wrapped, under }) => wrapped && under !== current.id)).to.deep.equal([]);
    const many = all.filter(({ _id }) => keys.has(_id));
    expect(many).to.have.length(MANY);
    for (const row of many)
      expect(current.unwrap(row._id, row.wrapped!.buffer).equals(keys.get(row._id)!)).to.equal(true);
    await client.close();
  });

  it('is refused in one line when it is wrong or too short', async () => {
    const other = { env: { ANNALS_SECRET: 'another secret than this one has, of some length' } };
    const refused = async (...command: string[]) => {
      const { code, stderr } = await run([...command, '--data-dir', directory.path], '', other);
      expect({ command, code }).to.deep.equal({ command, code: 1 });
      expect(stderr).to.match(/^annals: secret does not match the one that wraps the keys of this installation.*\n$/);
    };
    await refused('serve', 'rooms', ...FREE_PORTS);
    await refused('replay');
    // Commands that start engines do not leave them running either.
    await server.stop();
    await refused('serve', 'rooms', ...FREE_PORTS);
    await refused('replay');
    server = await startServer(directory.path, ['rooms']);
    const short = await run(['serve', '--data-dir', directory.path], '', { env: { ANNALS_SECRET: 'short' } });
    expect(short.code).to.equal(2);
    expect(short.stderr).to.match(/^annals: secret must be .*32 characters.*\n$/);
    expect((await createRoom(rooms(), 'Eve')).roomId).to.be.a('string');
  });

  it('is not printed, like other credentials, when a server address is malformed', async () => {
    const urls = ['--event-store-url', 'esdb://ann:hunter22@127.0.0.1:1?connectionName=hunter33&nodePreference=x'];
    const { code, stdout, stderr } = await run(['scavenge', ...urls, '--mongo-url', 'mongodb://b:hunter44@h/']);
    expect(code).to.equal(1);
    expect(stderr).to.match(/^annals: .*Unexpected "x"/);
    expect(stdout + stderr).not.to.match(/hunter/);
  });

  it('is shown by no command', async () => {
    const given = 'a secret of the configuration, of some length';
    for (const format of [[], ['--json']]) {
      const { stdout, code } = await run(['config', ...format], '', { env: { ANNALS_SECRET: given } });
      expect(code).to.equal(0);
      expect(stdout).to.contain('secret').and.not.to.contain(given);
    }
  });
});
