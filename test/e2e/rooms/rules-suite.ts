/** Rules of encrypted rooms: what is accepted and refused, and with which errors. */
import { expect } from 'chai';
import { type CallOptions, createRoom, type Entered, joinRoom } from '../../support/room-client.js';
import { newSigner, random, text } from '../../support/room-fixtures.js';
import type { RoomUnderTest } from './shared-service.js';

export function rules({ base, two, ask, as, given, when }: RoomUnderTest) {
  it('admits exactly one of many who use the same invite concurrently', async () => {
    const ada = await createRoom(base(), 'Ada');
    const invitation = await ada.invite();
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => joinRoom(base(), invitation, `Guest ${index}`)),
    );
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).to.have.length(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') {
        expect(outcome.reason).to.include({ status: 410, code: 'INVITE_USED' });
      }
    }
    expect((await ada.state()).participants).to.have.length(2);
  });

  it('holds 16 participants and keeps the invite of a refused one valid', async () => {
    const ada = await createRoom(base(), 'Ada');
    for (let index = 1; index < 16; index++) await joinRoom(base(), await ada.invite(), `Guest ${index}`);
    const invitation = await ada.invite();
    for (let attempt = 0; attempt < 2; attempt++) {
      const late = await joinRoom(base(), invitation, 'Late').catch((error: unknown) => error);
      expect(late).to.include({ status: 409, code: 'ROOM_FULL' });
    }
  });

  it('accepts 40 messages a minute per participant', async () => {
    const { ada, bob } = await two();
    for (let index = 0; index < 40; index++) await ada.post(`message ${index}`);
    const body = await ada.seal('one more');
    const answer = await when('POST', `/rooms/${ada.roomId}/messages`, as(ada, { body })).thenRefused(429, {
      code: 'TOO_MANY_MESSAGES',
    });
    expect(Number(answer.headers.get('retry-after'))).to.be.within(1, 60);
    await bob.post('mine still go');
  });

  it('refuses a repeated envelope and a repeated invite token', async () => {
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

  it('checks the room first, then the token, then the body', async () => {
    const { ada } = await two();
    const { ada: other } = await two();
    const path = `/rooms/${ada.roomId}`;
    const unknown = `/rooms/${text(random(16))}`;
    const not = (status: number, code: string, ...args: Parameters<typeof when>) =>
      when(...args).thenRefused(status, { code });
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

  it('names the invalid field', async () => {
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

  it('trims names and clamps the time to live', async () => {
    const { publicKey: signingPublicKey } = await newSigner();
    const make = async (more: object) =>
      (await ask<Entered>('POST', '/rooms', { body: { signingPublicKey, ...more } })).body;
    const left = ({ expiresAt }: Entered) => Date.parse(expiresAt) - Date.now();
    expect((await make({})).participants[0]?.name).to.equal('Unknown Guest');
    expect((await make({ participantName: ' \n ' })).participants[0]?.name).to.equal('Unknown Guest');
    expect((await make({ participantName: ' Ada\t King ' })).participants[0]?.name).to.equal('Ada King');
    expect((await make({ participantName: '🦉'.repeat(50) })).participants[0]?.name).to.equal('🦉'.repeat(48));
    expect(left(await make({}))).to.be.within(3_590_000, 3_600_000);
    expect(left(await make({ ttlMs: 1e12 }))).to.be.within(86_390_000, 86_400_000);
    expect(left(await make({ ttlMs: 120_000.9 }))).to.be.within(110_000, 120_000);
  });
}
