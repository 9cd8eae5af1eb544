/** Rooms from outside, with real encryption; long, because all of it is asked of one program, which takes seconds to start. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { temporaryDirectory } from '../support/engines.js';
import { httpSpec } from '../support/http-spec.js';
import {
  type CallOptions,
  call,
  createRoom,
  type Entered,
  joinRoom,
  type RoomClient,
  type RoomState,
  type StoredMessage,
} from '../support/room-client.js';
import { newSigner, random, text } from '../support/room-crypto.js';
import { type Server, startServer } from '../support/server.js';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe('an encrypted room', () => {
  const directory = temporaryDirectory();
  let server: Server;
  let base: string;

  before(async () => {
    const flags = ['--rooms-create-per-hour', '100000', '--rooms-min-ttl-ms', '1'];
    server = await startServer(directory.path, flags);
    base = server.urls.rooms ?? '';
  });
  after(async () => {
    await server?.stop();
    directory.remove();
  });

  const two = async () => {
    const ada = await createRoom(base, 'Ada');
    const bob = await joinRoom(base, await ada.invite(), 'Bob');
    return { ada, bob };
  };
  const ask = <Body = { error: string; code: string }>(method: string, path: string, more?: CallOptions) =>
    call<Body>(base, method, path, more);
  const as = ({ sessionToken }: RoomClient, more: CallOptions = {}) => ({ token: sessionToken, ...more });
  const { given, when } = httpSpec(() => base);

  it('lets two people talk whose words the server cannot read', async () => {
    const { ada, bob } = await two();
    await ada.post('Shall we build it?');
    await bob.post('It shall weave algebraic patterns 🧵');
    expect(await ada.read()).to.deep.equal(['Shall we build it?', 'It shall weave algebraic patterns 🧵']);
    expect(await bob.read()).to.deep.equal(await ada.read());
  });

  it('shows who is in it in order of joining, with keys ready for verifying', async () => {
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

  it('tells a message as it was sent, and whose it is', async () => {
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

  it('reads what came after a message, and everything after one it does not know', async () => {
    const { ada } = await two();
    const [first, second] = [await ada.post('one'), await ada.post('two')];
    await ada.post('three');
    expect(await ada.read(first.id)).to.deep.equal(['two', 'three']);
    expect(await ada.read(second.id)).to.deep.equal(['three']);
    expect(await ada.read('unknown')).to.deep.equal(['one', 'two', 'three']);
  });

  it('streams what happens, in order, and ends with the room', async () => {
    const ada = await createRoom(base, 'Ada');
    const stream = await ada.stream();
    expect(await stream.next()).to.deep.include({ type: 'CONNECTED' });
    const bob = await joinRoom(base, await ada.invite(), 'Bob');
    const joined = await stream.next();
    expect(joined).to.deep.equal({
      type: 'PARTICIPANT_JOINED',
      payload: (await ada.state()).participants[1],
    });
    const sent = await bob.post('hello');
    const received = await stream.next();
    expect(received).to.deep.equal({ type: 'NEW_MESSAGE', payload: sent });
    expect(await ada.open(received?.payload as StoredMessage)).to.equal('hello');
    await bob.burn();
    expect(await stream.next()).to.deep.equal({ type: 'ROOM_BURNED', payload: { roomId: ada.roomId } });
    expect(await stream.next()).to.equal(undefined);
  });

  it('goes on with a stream where it broke off', async () => {
    const { ada, bob } = await two();
    const first = await ada.stream();
    await first.next();
    await bob.post('one');
    await first.next();
    await bob.post('two');
    expect(await first.next()).to.have.property('type', 'NEW_MESSAGE');
    const cursor = first.cursor();
    first.close();
    const missed = await bob.post('three');
    const second = await ada.stream(cursor);
    expect(await second.next()).to.have.property('type', 'CONNECTED');
    // What the cursor had not covered may come again; what was missed must come.
    let last = await second.next();
    while ((last?.payload as StoredMessage | undefined)?.id !== missed.id) last = await second.next();
    expect(last).to.deep.equal({ type: 'NEW_MESSAGE', payload: missed });
    second.close();
  });

  it('misses nothing between the state and the stream', async () => {
    const { ada, bob } = await two();
    await bob.post('before');
    const { headers, body } = await ask<RoomState>('GET', `/rooms/${ada.roomId}/state`, as(ada));
    expect(body.messages).to.have.length(1);
    const between = await bob.post('between');
    const stream = await ada.stream(headers.get('position') ?? '');
    expect(await stream.next()).to.have.property('type', 'CONNECTED');
    expect(await stream.next()).to.deep.equal({ type: 'NEW_MESSAGE', payload: between });
    stream.close();
  });

  it('takes the token of a stream in the query too', async () => {
    const { ada } = await two();
    const cut = new AbortController();
    const url = `${base}/rooms/${ada.roomId}/events?token=${ada.sessionToken}`;
    const { status, headers } = await fetch(url, { signal: cut.signal });
    cut.abort();
    expect(status).to.equal(200);
    expect(headers.get('content-type')).to.match(/^text\/event-stream/);
  });

  it('lets in exactly one of many who come with the same invite', async () => {
    const ada = await createRoom(base, 'Ada');
    const invitation = await ada.invite();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => joinRoom(base, invitation, `Guest ${index}`)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).to.include({ status: 410, code: 'INVITE_USED' });
      }
    }
    expect((await ada.state()).participants).to.have.length(2);
  });

  it('holds 16, and keeps the invite of the one who found it full', async () => {
    const ada = await createRoom(base, 'Ada');
    for (let index = 1; index < 16; index++) await joinRoom(base, await ada.invite(), `Guest ${index}`);
    const invitation = await ada.invite();
    for (let attempt = 0; attempt < 2; attempt++) {
      const late = await joinRoom(base, invitation, 'Late').catch((error: unknown) => error);
      expect(late).to.include({ status: 409, code: 'ROOM_FULL' });
    }
  });

  it('takes 40 messages a minute of one person', async () => {
    const { ada, bob } = await two();
    for (let index = 0; index < 40; index++) await ada.post(`message ${index}`);
    const body = await ada.seal('one more');
    const answer = await when('POST', `/rooms/${ada.roomId}/messages`, as(ada, { body })).thenRefused(429, {
      code: 'TOO_MANY_MESSAGES',
    });
    expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60);
    await bob.post('mine still go');
  });

  it('refuses the same envelope twice, and one invite token twice', async () => {
    const { ada } = await two();
    const body = await ada.seal('hello');
    const path = `/rooms/${ada.roomId}/messages`;
    await given('POST', path, as(ada, { body }));
    await when('POST', path, as(ada, { body })).thenRefused(409, { code: 'MESSAGE_REPLAYED' });
    const invites = `/rooms/${ada.roomId}/invites`;
    const invite = as(ada, { body: { inviteToken: text(random(16)) } });
    await given('POST', invites, invite);
    await when('POST', invites, invite).thenRefused(409, { code: 'INVITE_EXISTS' });
  });

  it('answers a repeated request with an Idempotency-Key as the first time', async () => {
    const { publicKey: signingPublicKey } = await newSigner();
    const key = () => ({ 'idempotency-key': text(random(12)) });
    const again = async <Body>(method: string, path: string, options: CallOptions) => {
      const first = await ask<Body>(method, path, options);
      const second = await ask<Body>(method, path, options);
      expect(second.status).to.equal(first.status);
      expect(second.body).to.deep.equal(first.body);
      return first;
    };
    const body = { participantName: 'Ada', signingPublicKey };
    const room = (await again<Entered>('POST', '/rooms', { body, headers: key() })).body;
    const path = `/rooms/${room.roomId}`;
    const token = room.sessionToken;
    const inviteToken = text(random(16));
    await again('POST', `${path}/invites`, { token, body: { inviteToken }, headers: key() });
    const joining = { body: { ...body, inviteToken }, headers: key() };
    const guest = await again<Entered>('POST', `${path}/join`, joining);
    expect(guest.body.participants).to.have.length(2);
    const { ada } = await two();
    const posting = { token, body: await ada.seal('x'), headers: key() };
    await again('POST', `${path}/messages`, posting);
    await when('POST', `${path}/messages`, { ...posting, body: await ada.seal('y') }).thenRefused(422);
    await again('DELETE', path, { token, headers: key() });
  });

  it('is gone the moment it is burned, for everyone', async () => {
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
    const asked = [
      when('GET', `${path}/state`, as(bob)),
      when('POST', `${path}/messages`, as(bob, { body: envelope })),
      when('POST', `${path}/invites`, as(bob, { body: { inviteToken: text(random(16)) } })),
      when('POST', `${path}/burn`, as(bob)),
      when('DELETE', path, as(bob)),
      when('GET', `${path}/events`, as(bob)),
    ];
    for (const each of asked)
      await each.thenRefused(404, { error: /^Room not found$/, code: 'ROOM_NOT_FOUND' });
    const late = await joinRoom(base, invitation, 'Late').catch((error: unknown) => error);
    expect(late).to.include({ status: 404, code: 'ROOM_NOT_FOUND' });
  });

  it('ends at its time, with everyone told', async () => {
    const ada = await createRoom(base, 'Ada', 1500);
    const stream = await ada.stream();
    expect(await stream.next()).to.have.property('type', 'CONNECTED');
    expect(await stream.next()).to.deep.equal({ type: 'ROOM_EXPIRED', payload: { roomId: ada.roomId } });
    expect(await stream.next()).to.equal(undefined);
    expect(Date.now()).to.be.at.least(Date.parse(ada.expiresAt));
    await when('GET', `/rooms/${ada.roomId}/state`, as(ada)).thenRefused(404);
  });

  it('asks for the room first, then for the token, then looks at the body', async () => {
    const { ada } = await two();
    const { ada: other } = await two();
    const path = `/rooms/${ada.roomId}`;
    const unknown = `/rooms/${text(random(16))}`;
    const not = (status: number, code: string, ...asked: Parameters<typeof when>) =>
      when(...asked).thenRefused(status, { code });
    await not(404, 'ROOM_NOT_FOUND', 'POST', `${unknown}/messages`, { body: {} });
    await not(404, 'ROOM_NOT_FOUND', 'POST', `${unknown}/join`, { body: {} });
    await not(404, 'ROOM_NOT_FOUND', 'GET', '/rooms/..%2F..%2Fetc/state');
    for (const token of [undefined, 'nonsense', text(random(32)), other.sessionToken]) {
      const options = { body: {}, ...(token ? { token } : {}) };
      await not(401, 'UNAUTHORIZED', 'POST', `${path}/messages`, options);
      await not(401, 'UNAUTHORIZED', 'POST', `${path}/invites`, options);
      await not(401, 'UNAUTHORIZED', 'POST', `${path}/burn`, options);
      await not(401, 'UNAUTHORIZED', 'GET', `${path}/state`, token ? { token } : {});
      await not(401, 'UNAUTHORIZED', 'GET', `${path}/events`, token ? { token } : {});
    }
    await not(400, 'BAD_REQUEST', 'POST', `${path}/messages`, as(ada, { body: {} }));
    await not(404, 'NOT_FOUND', 'GET', '/nothing');
    await not(405, 'METHOD_NOT_ALLOWED', 'PUT', '/rooms');
  });

  it('names the field that is wrong', async () => {
    const { ada } = await two();
    const { publicKey: signingPublicKey } = await newSigner();
    const envelope = await ada.seal('x');
    const messages = `/rooms/${ada.roomId}/messages`;
    const cases: readonly [string, object, number, RegExp][] = [
      ['/rooms', {}, 400, /^Signing public key is required/],
      ['/rooms', { signingPublicKey: 'x' }, 400, /^Signing public key is invalid/],
      ['/rooms', { signingPublicKey: { ...signingPublicKey, crv: 'P-384' } }, 400, /is invalid/],
      ['/rooms', { signingPublicKey: { ...signingPublicKey, x: 'short' } }, 400, /^X is too short/],
      ['/rooms', { signingPublicKey, participantName: 7 }, 400, /^Participant name is invalid/],
      ['/rooms', { signingPublicKey, ttlMs: '60000' }, 400, /is invalid/],
      [`/rooms/${ada.roomId}/invites`, { inviteToken: 'short' }, 400, /^Invite token is too short/],
      [`/rooms/${ada.roomId}/invites`, { inviteToken: 'x'.repeat(257) }, 400, /^Invite token is too long/],
      [`/rooms/${ada.roomId}/invites`, { inviteToken: 'white space is not.' }, 400, /is invalid/],
      [messages, { ...envelope, keyVersion: 0 }, 400, /^Key version is invalid/],
      [messages, { ...envelope, messageIndex: 1.5 }, 400, /^Message index is invalid/],
      [messages, { ...envelope, nonce: '' }, 400, /^Nonce is required/],
      [messages, { ...envelope, signature: 'a+b=' }, 400, /^Signature is invalid/],
      [messages, { ...envelope, ciphertext: 'x'.repeat(32_769) }, 413, /^Ciphertext is too long/],
      [messages, { ...envelope, chainId: 'x'.repeat(129) }, 413, /^Chain id is too long/],
      [messages, { ...envelope, ciphertext: 'x'.repeat(70_000) }, 413, /too large/],
    ];
    for (const [path, body, status, error] of cases) {
      const code = status === 413 ? 'TOO_LARGE' : 'BAD_REQUEST';
      await when('POST', path, as(ada, { body })).thenRefused(status, { code, error });
    }
    expect((await ada.state()).messages).to.deep.equal([]);
  });

  it('tidies names and clamps the time to live', async () => {
    const { publicKey: signingPublicKey } = await newSigner();
    const make = async (more: object) =>
      (await ask<Entered>('POST', '/rooms', { body: { signingPublicKey, ...more } })).body;
    const left = ({ expiresAt }: Entered) => Date.parse(expiresAt) - Date.now();
    expect((await make({})).participants[0]?.name).to.equal('Unknown Guest');
    expect((await make({ participantName: ' \n ' })).participants[0]?.name).to.equal('Unknown Guest');
    expect((await make({ participantName: ' Ada\t King ' })).participants[0]?.name).to.equal('Ada King');
    expect((await make({ participantName: '🦉'.repeat(50) })).participants[0]?.name).to.equal(
      '🦉'.repeat(48),
    );
    expect(left(await make({}))).to.be.within(3_590_000, 3_600_000);
    expect(left(await make({ ttlMs: 1e12 }))).to.be.within(86_390_000, 86_400_000);
    expect(left(await make({ ttlMs: 120_000.9 }))).to.be.within(110_000, 120_000);
  });

  it('says in its headers that nothing of it is to be kept', async () => {
    const { ada } = await two();
    for (const path of ['/nothing', `/rooms/${ada.roomId}/state`]) {
      const { headers } = await ask('GET', path, as(ada));
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(headers.get('referrer-policy')).to.equal('no-referrer');
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
    }
  });

  it('says OK when it is well', async () => {
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
    const files = readdirSync(directory.path, { recursive: true, encoding: 'utf8' })
      .map((file) => join(directory.path, file))
      .filter((file) => statSync(file).isFile());
    const inClear = files.filter((file) => readFileSync(file).includes(ada.roomId));
    expect(inClear, 'what is no secret is found').not.to.be.empty;
    for (const secret of secrets) {
      for (const file of files) expect(readFileSync(file).includes(secret), file).to.equal(false);
      expect(server.lines.join('\n')).not.to.contain(secret);
    }
  });
});
