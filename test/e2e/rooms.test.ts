/** Rooms from outside with real encryption, in one program, since a start takes seconds. */
import { readFileSync } from 'node:fs';
import { temporaryDirectory } from '@annals/engines/testing/engines.js';
import { expect } from 'chai';
import { createRoom, joinRoom, type StoredMessage } from '../support/room-client.js';
import { random, text } from '../support/room-fixtures.js';
import { filesIn, type Server, startServer } from '../support/server-process.js';
import { rules } from './rooms/rules-suite.js';
import { roomUnderTest } from './rooms/shared-service.js';
import { streams } from './rooms/streams-suite.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('an encrypted room', () => {
  const directory = temporaryDirectory();
  let server: Server;
  let base: string;

  before(async () => {
    const flags = ['rooms', '--rooms-create-per-hour', '100000', '--rooms-min-ttl-ms', '1'];
    server = await startServer(directory.path, flags);
    base = server.urls.rooms ?? '';
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const room = roomUnderTest(() => base);
  const { two, ask, as, when } = room;

  it('lets two people exchange messages that the server cannot read', async () => {
    const { ada, bob } = await two();
    await ada.post('Shall we build it?');
    await bob.post('It shall weave algebraic patterns 🧵');
    expect(await ada.read()).to.deep.equal(['Shall we build it?', 'It shall weave algebraic patterns 🧵']);
    expect(await bob.read()).to.deep.equal(await ada.read());
  });

  it('lists participants in order of joining with their verification keys', async () => {
    const { ada, bob } = await two();
    const { participants, roomId, expiresAt, messages } = await ada.state();
    expect(participants.map(({ id, name }) => ({ id, name }))).to.deep.equal([
      { id: ada.participantId, name: 'Ada' },
      { id: bob.participantId, name: 'Bob' },
    ]);
    for (const { joinedAt, signingPublicKey, ...rest } of participants) {
      expect(joinedAt).to.match(ISO);
      expect(Object.keys(rest)).to.have.members(['id', 'name']);
      expect(signingPublicKey).to.deep.include({ kty: 'EC', crv: 'P-256', ext: true, key_ops: ['verify'] });
      expect(signingPublicKey).to.have.all.keys('kty', 'crv', 'x', 'y', 'ext', 'key_ops');
    }
    expect({ roomId, expiresAt, messages }).to.deep.equal({
      roomId: ada.roomId,
      expiresAt: ada.expiresAt,
      messages: [],
    });
    expect(bob.participants).to.deep.equal(participants);
  });

  it('returns a message unchanged, with its author', async () => {
    const { ada } = await two();
    const envelope = await ada.seal('hello');
    const body = { ...envelope, senderId: 'someone else', id: 'mine', extra: 1 };
    const { status, body: answer } = await ask<{ message: StoredMessage }>(
      'POST',
      `/rooms/${ada.roomId}/messages`,
      as(ada, { body }),
    );
    expect(status).to.equal(201);
    const { id, createdAt, ...message } = answer.message;
    expect(message).to.deep.equal({
      ...envelope,
      roomId: ada.roomId,
      senderId: ada.participantId,
      expiresAt: ada.expiresAt,
    });
    expect(id).not.to.equal('mine');
    expect(createdAt).to.match(ISO);
    expect((await ada.state()).messages).to.deep.equal([answer.message]);
  });

  it('reads messages after a given one, and all when it is unknown', async () => {
    const { ada } = await two();
    const [first, second] = [await ada.post('one'), await ada.post('two')];
    await ada.post('three');
    expect(await ada.read(first.id)).to.deep.equal(['two', 'three']);
    expect(await ada.read(second.id)).to.deep.equal(['three']);
    expect(await ada.read('unknown')).to.deep.equal(['one', 'two', 'three']);
  });

  streams(room);
  rules(room);

  it('is gone for everyone as soon as it is burned', async () => {
    const { ada, bob } = await two();
    const invitation = await ada.invite();
    await ada.post('secret');
    expect(await ada.burn()).to.deep.equal({ success: true });
    for (const body of ['{', '[]']) {
      const headers = { 'Content-Type': 'application/json', 'Idempotency-Key': 'again' };
      const again = await fetch(`${base}/rooms/${ada.roomId}/burn`, { method: 'POST', headers, body });
      expect(again.status, body).to.equal(404);
    }
    const envelope = await bob.seal('too late');
    const path = `/rooms/${ada.roomId}`;
    const pending = [
      when('GET', `${path}/state`, as(bob)),
      when('POST', `${path}/messages`, as(bob, { body: envelope })),
      when('POST', `${path}/invites`, as(bob, { body: { inviteToken: text(random(16)) } })),
      when('POST', `${path}/burn`, as(bob)),
      when('DELETE', path, as(bob)),
      when('GET', `${path}/events`, as(bob)),
    ];
    for (const each of pending) await each.thenRefused(404, { error: /^Room not found$/, code: 'ROOM_NOT_FOUND' });
    const late = await joinRoom(base, invitation, 'Late').catch((error: unknown) => error);
    expect(late).to.include({ status: 404, code: 'ROOM_NOT_FOUND' });
  });

  it('ends on time and notifies everyone', async () => {
    const ada = await createRoom(base, 'Ada', 1500);
    const stream = await ada.stream();
    expect(await stream.next()).to.have.property('type', 'CONNECTED');
    expect(await stream.next()).to.deep.equal({ type: 'ROOM_EXPIRED', payload: { roomId: ada.roomId } });
    expect(await stream.next()).to.equal(undefined);
    expect(Date.now()).to.be.at.least(Date.parse(ada.expiresAt));
    await when('GET', `/rooms/${ada.roomId}/state`, as(ada)).thenRefused(404);
  });

  it('forbids caching in its headers', async () => {
    const { ada } = await two();
    for (const path of ['/nothing', `/rooms/${ada.roomId}/state`]) {
      const { headers } = await ask('GET', path, as(ada));
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
    }
  });

  it('answers OK on its health route', async () => {
    const response = await fetch(`${base}/health`);
    expect(response.headers.get('content-type')).to.match(/^text\/plain/);
    expect(await response.text()).to.equal('OK');
  });

  it('leaves no name, token or envelope in clear on disk or in its output', async () => {
    const name = `Zanzibar${text(random(6))}`;
    const ada = await createRoom(base, name);
    const invitation = await ada.invite();
    await joinRoom(base, invitation, 'Bob');
    const { ciphertext } = await ada.post('hello');
    expect((await ada.state()).participants[0]?.name).to.equal(name);
    const secrets = [name, ada.sessionToken, invitation.inviteToken, ciphertext];
    const files = filesIn(directory.path);
    const inClear = files.filter((file) => readFileSync(file).includes(ada.roomId));
    expect(inClear, 'what is no secret is found').not.to.be.empty;
    for (const secret of secrets) {
      for (const file of files) expect(readFileSync(file).includes(secret), file).to.equal(false);
      expect(server.lines.join('\n')).not.to.contain(secret);
    }
  });
});
