/** Limits and errors of meeting messages, in the order in which they are checked. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { WebSocket } from 'ws';
import { send } from '../../support/http-spec.js';
import { enterRoom, type MeetingMessage, open, type Person } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

const CODES = ['INVALID_MESSAGE', 'UNKNOWN_MESSAGE_TYPE'];

describe('meeting messages', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1' });
  const people: Person[] = [];
  let count = 0;
  let ada: Person;
  let bob: Person;
  beforeEach(async () => {
    const roomId = `LIMI${String(++count).padStart(2, '0')}`;
    ada = await enterRoom(meetings.base, roomId, 'Ada', { isHost: true });
    bob = await enterRoom(meetings.base, roomId, 'Bob');
    people.push(ada, bob);
  });
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });
  const connectOther = async () => {
    const eve = await open(meetings.base);
    people.push(eve);
    return eve;
  };
  const [invalid, unknown] = CODES;
  /** The error code for each message, or `fine`. */
  const codes = async (who: Person, ...messages: readonly (object | string)[]) => {
    await who.answered();
    const all: unknown[] = [];
    for (const each of messages) {
      const before = who.inbox.length;
      who.socket.send(typeof each === 'string' ? each : JSON.stringify(each));
      await who.answered();
      // Echoes of earlier messages may arrive after the marker.
      const refused = ({ type, code }: MeetingMessage) => type === 'error' && code !== unknown;
      all.push(who.inbox.slice(before).find(refused)?.code ?? 'fine');
    }
    return all;
  };

  it('must be JSON objects of a known type, which is checked first', async () => {
    const eve = await connectOther();
    expect(await codes(eve, '', 'hello', '[]', 'null', '"join"', '{}', '{"type":1}', '{"type":null}')).to.deep.equal(
      Array(8).fill(invalid),
    );
    const isUnknown = ({ code }: MeetingMessage) => code === unknown;
    const before = eve.inbox.filter(isUnknown).length;
    for (const type of ['dance', 'error', '__proto__', 'constructor'])
      eve.socket.send(JSON.stringify({ type, roomId: 1 }));
    await eventually(() => eve.inbox.filter(isUnknown).length === before + 4);
    expect(eve.inbox[0]).to.include({ roomId: '', participantId: '' });
    expect(eve.inbox[0]?.timestamp).to.be.a('number');
  });

  it('are checked in this order: type, fields, joined, moderator, target', async () => {
    const eve = await connectOther();
    const act = { type: 'moderator-action', targetId: 'nobody', action: 'mute' };
    expect(await codes(eve, { ...act, action: 'dance' }, act)).to.deep.equal([invalid, 'NOT_JOINED']);
    expect(await codes(bob, { ...act, action: 'dance' }, act)).to.deep.equal([invalid, 'UNAUTHORIZED']);
    expect(await codes(ada, act, { ...act, targetId: bob.id })).to.deep.equal(['TARGET_NOT_FOUND', 'fine']);
    for (const action of ['mute', 'unmute', 'kick', 'make-moderator'])
      expect(await codes(ada, { ...act, action })).to.deep.equal(['TARGET_NOT_FOUND']);
  });

  it('require having joined a room, except join', async () => {
    const eve = await connectOther();
    const targetId = ada.id;
    const transferId = 't';
    const messages = [
      { type: 'leave' },
      { type: 'offer', targetId, sdp: 'v=0' },
      { type: 'answer', targetId, sdp: 'v=0' },
      { type: 'ice-candidate', targetId, candidate: { candidate: '' } },
      { type: 'chat', text: 'a' },
      { type: 'file-offer', targetId, transferId, fileName: 'a', fileSize: 1, fileType: '' },
      { type: 'file-answer', targetId, transferId, accepted: false },
      { type: 'file-chunk', targetId, transferId, chunk: '', index: 0, total: 1 },
      { type: 'participant-updated' },
      { type: 'raise-hand' },
      { type: 'lower-hand' },
      { type: 'recording-started' },
      { type: 'recording-stopped' },
      { type: 'reaction', reaction: 'clap' },
      { type: 'moderator-action', targetId, action: 'kick' },
      { type: 'room-locked' },
      { type: 'room-unlocked' },
      { type: 'admit-user', targetId },
      { type: 'reject-user', targetId, reason: '' },
    ];
    expect(await codes(eve, ...messages)).to.deep.equal(messages.map(() => 'NOT_JOINED'));
    const moderators = ['moderator-action', 'room-locked', 'room-unlocked', 'admit-user', 'reject-user'];
    const only = messages.filter(({ type }) => moderators.includes(type) || type.startsWith('recording-'));
    expect(await codes(bob, ...only)).to.deep.equal(only.map(() => 'UNAUTHORIZED'));
  });

  const wrong: readonly (readonly [type: string, fine: object, ...wrong: object[]])[] = [
    ['chat', { text: 'x'.repeat(2000) }, { text: '' }, { text: 'x'.repeat(2001) }, { text: 1 }, {}],
    ['chat', { text: '👋'.repeat(2000), replyTo: '1-a' }, { text: 'a', replyTo: 1 }],
    ['reaction', { reaction: '12345678' }, { reaction: '' }, { reaction: ' \t\u200b' }, { reaction: '123456789' }, {}],
    ['reaction', { reaction: '  👋12345 7  ' }, { reaction: 1 }],
    ['participant-updated', { isMuted: true }, { isMuted: 1 }, { isVideoOff: 'no' }, { isHandRaised: null }],
    ['offer', { targetId: 'x', sdp: 'v=0' }, { targetId: 'x' }, { sdp: 'v=0' }, { targetId: 1, sdp: 'v=0' }],
    [
      'ice-candidate',
      { targetId: 'x', candidate: { candidate: '', sdpMid: null, sdpMLineIndex: 0 } },
      { targetId: 'x', candidate: 'a' },
      { targetId: 'x', candidate: { candidate: 1 } },
      { targetId: 'x', candidate: { candidate: '', sdpMLineIndex: 'first' } },
    ],
    [
      'file-chunk',
      { targetId: 'x', transferId: 't', chunk: 'A'.repeat(65_536), index: 0, total: 1 },
      { targetId: 'x', transferId: 't', chunk: 'A'.repeat(65_537), index: 0, total: 1 },
      { targetId: 'x', transferId: 't', chunk: '', index: 0.5, total: 1 },
      { targetId: 'x', transferId: 't', chunk: '', index: -1, total: 1 },
      { targetId: 'x', transferId: 't', chunk: null, index: 0, total: 1 },
    ],
    [
      'file-offer',
      { targetId: 'x', transferId: 't', fileName: 'a', fileSize: 1, fileType: '' },
      { targetId: 'x', transferId: 't', fileName: 'a', fileSize: '1', fileType: '' },
    ],
    [
      'file-answer',
      { targetId: 'x', transferId: 't', accepted: true },
      { targetId: 'x', transferId: 't', accepted: 'yes' },
    ],
    [
      'reject-user',
      { targetId: 'x', reason: 'x'.repeat(200) },
      { targetId: 'x', reason: 'x'.repeat(201) },
      { targetId: 'x' },
    ],
    ['raise-hand', { participantId: '', note: 'more' }, { roomId: 1 }, { timestamp: 'now' }],
  ];
  for (const [type, fine, ...others] of wrong)
    it(`accept ${type} with ${JSON.stringify(fine).slice(0, 60)}, and nothing beyond that`, async () => {
      expect(await codes(ada, { type, ...fine })).to.deep.equal(['fine']);
      const messages = others.map((each) => ({ type, ...each }));
      expect(await codes(ada, ...messages)).to.deep.equal(messages.map(() => invalid));
      expect(ada.inbox.at(-2)).to.include({ participantId: ada.id });
      expect(ada.socket.readyState).to.equal(WebSocket.OPEN);
    });

  it('accept join with a name of 1 to 50 characters', async () => {
    const eve = await connectOther();
    const join = (name: unknown) => ({ type: 'join', roomId: 'NOBODY', name });
    expect(await codes(eve, ...[undefined, 1, '', ' \t ', 'x'.repeat(51)].map(join))).to.deep.equal(
      Array(5).fill(invalid),
    );
    expect(await codes(eve, join('👋'.repeat(50)), join(` ${'x'.repeat(50)} `))).to.deep.equal(
      Array(2).fill('ROOM_NOT_FOUND'),
    );
    expect(await codes(eve, { type: 'join', name: 'Eve' })).to.deep.equal([invalid]);
  });

  it('are limited to 200 a second: more are rejected, then the socket is closed', async () => {
    const eve = await connectOther();
    // However slowly the server reads them.
    for (let n = 0; n < 5000; n++) eve.send('leave');
    expect((await eve.closed).code).to.equal(1008);
    const inbox = eve.news().map(({ code }) => code);
    expect(inbox.filter((each) => each === 'NOT_JOINED')).to.have.length.of.at.least(200);
    expect(inbox).to.include(invalid);
  });

  it('are text of at most 1 MiB: binary is rejected, larger or invalid UTF-8 closes the connection', async () => {
    const eve = await connectOther();
    eve.socket.send(Buffer.from('{"type":"leave"}'));
    await eve.answered();
    expect(eve.inbox[0]).to.include({ code: invalid });
    eve.socket.send(JSON.stringify({ type: 'chat', text: 'x'.repeat(1024 * 1024) }));
    expect((await eve.closed).code).to.equal(1009);
    const mallory = await connectOther();
    mallory.socket.send(Buffer.from([0xff, 0xfe]), { binary: false });
    expect((await mallory.closed).code).to.equal(1007);
    expect(await codes(ada, { type: 'chat', text: 'nobody else notices' })).to.deep.equal(['fine']);
  });

  it('require a WebSocket at /ws, with any query', async () => {
    const { status } = await send(meetings.base, { method: 'GET', path: '/ws' });
    expect(status).to.equal(426);
    const socket = new WebSocket(`${meetings.base.replace('http', 'ws')}/ws?room=a&x=%20`);
    await new Promise((resolve) => socket.once('open', resolve));
    socket.terminate();
  });
});

describe('opening many meeting rooms over one socket', function () {
  this.timeout(60_000);
  const meetings = useMeeting({
    '--server-trusted-proxies': '127.0.0.1',
    '--meeting-create-per-minute': '2',
  });

  it('allows one for the connection and the limit per minute, for each network', async () => {
    const eve = await open(meetings.base);
    const host = async (who: Person, roomId: string, more = {}) => {
      const before = who.inbox.length;
      who.send('join', { roomId, name: 'Eve', isHost: true, ...more });
      await who.answered();
      return who.inbox.slice(before).map(({ type, code }) => code ?? type)[0];
    };
    for (const roomId of ['FIRST1', 'SECND2', 'THIRD3']) expect(await host(eve, roomId)).to.equal('participant-joined');
    for (const more of [{}, { password: 'none is hashed for it' }])
      expect(await host(eve, 'FOURTH', more)).to.equal('INVALID_MESSAGE');
    const ada = await open(meetings.base, '203.0.113.2');
    expect(await host(ada, 'ADA222')).to.equal('participant-joined');
    expect(await host(eve, 'ADA222'), 'joining an existing room is free').to.equal('participant-joined');
    for (const { socket } of [eve, ada]) socket.terminate();
  });
});

describe('opening many meeting sockets', function () {
  this.timeout(60_000);
  const meetings = useMeeting({
    '--server-trusted-proxies': '127.0.0.1',
    '--meeting-connect-per-minute': '2',
  });

  it('is rejected with 429 for a network beyond its limit', async () => {
    const [one, two] = [await open(meetings.base), await open(meetings.base)];
    const third = new WebSocket(`${meetings.base.replace('http', 'ws')}/ws`, {
      headers: { 'X-Forwarded-For': '203.0.113.1' },
    });
    const status = await new Promise((resolve) =>
      third.once('unexpected-response', (_, { statusCode, headers }) =>
        resolve([statusCode, headers.connection, Number(headers['retry-after']) > 0]),
      ),
    );
    expect(status).to.deep.equal([429, 'close', true]);
    const other = await open(meetings.base, '203.0.113.2');
    for (const { socket } of [one, two, other]) socket.terminate();
    third.on('error', () => {}).terminate();
  });
});
