/** Public information of the meeting service: health, ICE servers, and seven headers on every answer. */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { ask, send, sendBytes } from '../../support/http-spec.js';
import { useMeeting } from '../../support/meeting-node.js';

const SEVEN = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST, OPTIONS',
  'access-control-allow-headers': 'Content-Type',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-xss-protection': '1; mode=block',
  'referrer-policy': 'strict-origin-when-cross-origin',
};

describe('public routes of the meeting service', function () {
  this.timeout(60_000);
  const meetings = useMeeting();
  const { when } = meetings;

  it('answer /health with exactly six members', async () => {
    const { body } = await when('GET', '/health').thenAnswered(200, { status: 'ok' });
    expect(Object.keys(body)).to.have.members([
      'status',
      'totalRooms',
      'totalParticipants',
      'peakParticipants',
      'uptime',
      'version',
    ]);
    expect(body.uptime).to.be.a('number').and.be.greaterThan(0);
    expect(body.version).to.match(/^\d+\.\d+\.\d+/);
    expect(Number.isInteger(body.uptime)).to.equal(true);
  });

  it('answer /config with a public STUN server by default', async () => {
    const { body } = await when('GET', '/config').thenAnswered(200);
    expect(body.iceServers).to.have.length(1);
    expect(body.iceServers[0]).to.have.all.keys('urls');
    expect(body.iceServers[0].urls).to.match(/^stun:/);
  });

  it('serve an index at the root, and a document that names every route', async () => {
    const { body } = await when('GET', '/').thenAnswered(200, { service: 'meeting' });
    expect(body.links.signaling).to.equal('/ws');
    const document = await when('GET', '/openapi.json').thenAnswered(200, { openapi: '3.1.0' });
    expect(document.body.paths).to.include.keys('/', '/health', '/config', '/api/rooms');
  });

  it('serve a page to try meetings to browsers at the root', async () => {
    const accept = 'text/html,application/xhtml+xml,*/*;q=0.8';
    const page = await send(meetings.base, { method: 'GET', path: '/', headers: { accept } });
    expect(page.status).to.equal(200);
    expect(page.headers).to.include({ ...SEVEN, 'content-type': 'text/html; charset=utf-8' });
    const [script] = /assets\/page-\w+\.js/.exec(page.text) ?? [];
    const part = await send(meetings.base, { method: 'GET', path: `/${script}` });
    expect(part.status).to.equal(200);
    expect(part.headers).to.include(SEVEN);
  });

  it('send the seven headers on WebSocket upgrades', async () => {
    const socket = new WebSocket(`${meetings.base.replace('http', 'ws')}/ws`, {
      headers: { 'X-Request-Id': 'mine' },
    });
    const [{ headers }] = await once(socket, 'upgrade');
    socket.terminate();
    expect(headers).to.include({ ...SEVEN, 'x-request-id': 'mine' });
  });

  it('send the seven headers on every answer including errors, and no other CORS headers', async () => {
    const answers: readonly (readonly [status: number, method: string, path: string, body?: string])[] = [
      [200, 'GET', '/health'],
      [200, 'HEAD', '/health'],
      [200, 'GET', '/config'],
      [200, 'GET', '/'],
      [201, 'POST', '/api/rooms', '{}'],
      [204, 'OPTIONS', '/api/rooms'],
      [204, 'OPTIONS', '/nowhere'],
      [400, 'POST', '/api/rooms', '{'],
      [400, 'POST', '/api/rooms', '{"roomId":"short"}'],
      [404, 'GET', '/nowhere'],
      [426, 'GET', '/ws'],
      [404, 'GET', '/%'],
      [405, 'DELETE', '/api/rooms'],
      [413, 'POST', '/api/rooms', `{"title":"${'x'.repeat(70_000)}"}`],
    ];
    const origin = { origin: 'https://a.example', 'content-type': 'application/json' };
    for (const [status, method, path, body] of answers) {
      const answer = await send(meetings.base, { method, path, headers: origin, body });
      const what = `${method} ${path} ${answer.text.slice(0, 100)}`;
      expect(answer.status, what).to.equal(status);
      expect(answer.headers, what).to.include(SEVEN);
      const cors = Object.keys(answer.headers).filter((name) => name.startsWith('access-control'));
      expect(cors, what).to.have.length(3);
    }
    const broken = (await sendBytes(meetings.base, 'NOT HTTP\r\n\r\n')).toLowerCase();
    for (const [name, value] of Object.entries(SEVEN)) expect(broken).to.contain(`${name}: ${value.toLowerCase()}\r\n`);
  });
});

describe('TURN server with a shared secret', function () {
  this.timeout(60_000);
  const secret = 'shared with the relay';
  const meetings = useMeeting({ '--meeting-turn-url': 'turn:turn.example', '--meeting-turn-secret': secret });

  it('gets credentials that it can verify, valid for an hour, different for each request', async () => {
    const turnServer = async () => (await ask(meetings.base, 'GET', '/config')).body.iceServers[1];
    const [one, other] = [await turnServer(), await turnServer()];
    expect(one).to.have.all.keys('urls', 'username', 'credential');
    expect(one.urls).to.equal('turn:turn.example');
    expect(one.credential).to.equal(createHmac('sha1', secret).update(one.username).digest('base64'));
    const until = Number(one.username.split(':')[0]) * 1000 - Date.now();
    expect(until).to.be.within(3_500_000, 3_601_000);
    expect(other.username).not.to.equal(one.username);
  });
});

describe('configured ICE servers', function () {
  this.timeout(60_000);
  const { when } = useMeeting({
    '--meeting-turn-url': 'turns:turn.example',
    '--meeting-turn-username': 'guest',
    '--meeting-turn-credential': 'word',
    '--meeting-ice-servers': '[{"urls":"stun:stun.example"}]',
  });

  it('replace the public one', () =>
    when('GET', '/config').thenAnswered(200, {
      iceServers: [
        { urls: 'stun:stun.example' },
        { urls: 'turns:turn.example', username: 'guest', credential: 'word' },
      ],
    }));
});
