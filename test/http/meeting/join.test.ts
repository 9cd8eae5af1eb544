/** Joining a meeting over a socket: admission, roles, the first messages, and leaving. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { enterRoom, joinedIn, open, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('joining a meeting', function () {
  this.timeout(60_000);
  // Empty rooms end immediately here; return.test.ts and lost-connection.test.ts cover the return period.
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1', '--meeting-return-seconds': '0' });
  const { when } = meetings;
  let count = 0;
  let roomId: string;
  const open_: Person[] = [];
  beforeEach(() => {
    roomId = `JOIN${String(++count).padStart(2, '0')}`;
  });
  afterEach(() => {
    for (const { socket } of open_.splice(0)) socket.terminate();
  });

  const joinAs = async (name: string, more: object = {}, room = roomId) => {
    const person = await enterRoom(meetings.base, room, name, more);
    open_.push(person);
    return person;
  };
  const create = async (more: object = {}) =>
    (await when('POST', '/api/rooms', { body: { roomId, ...more } }).thenAnswered(201)).body as {
      creatorToken: string;
    };
  const joined = (of: Person, name: string, isModerator = false) => joinedIn(roomId, of, name, isModerator);
  const expectRejected = async (name: string, more: object, code: string, room = roomId) => {
    const person = await joinAs(name, more, room);
    const news = person.news();
    expect(news).to.have.length(1);
    expect(news[0]).to.include({ type: 'error', code, roomId: '', participantId: '' });
    expect(news[0]?.message).to.be.a('string').and.not.equal('');
    return person;
  };
  const isModerator = (person: Person) => person.inbox[0]?.isModerator;

  it('sends the own admission first, then everybody in order of joining, and the newcomer to others', async () => {
    const ada = await joinAs(' Ada ', { isHost: true }, ` ${roomId.toLowerCase()} `);
    expect(ada.inbox[0]).to.have.keys(
      'type',
      'roomId',
      'participantId',
      'timestamp',
      'name',
      'isModerator',
      'isMuted',
      'isVideoOff',
      'resumeToken',
    );
    expect(Math.abs(Number(ada.inbox[0]?.timestamp) - Date.now())).to.be.lessThan(60_000);
    expect(ada.news()).to.deep.equal([joined(ada, 'Ada', true)]);
    const bob = await joinAs('Bob');
    const cleo = await open(meetings.base);
    open_.push(cleo);
    const inbox = await receivedBy({ ada, bob, cleo }, ada, () =>
      cleo.send('join', { roomId, name: 'Cleo', participantId: 'mine' }),
    );
    expect(inbox).to.deep.equal({
      ada: [joined(cleo, 'Cleo')],
      bob: [joined(cleo, 'Cleo')],
      cleo: [joined(cleo, 'Cleo'), joined(ada, 'Ada', true), joined(bob, 'Bob')],
    });
    expect(new Set([ada.id, bob.id, cleo.id]).size).to.equal(3);
  });

  it('rejects unknown rooms, and creates a room for a host with a valid id', async () => {
    await expectRejected('Ada', {}, 'ROOM_NOT_FOUND');
    await expectRejected('Ada', {}, 'ROOM_NOT_FOUND', 'no room');
    await expectRejected('Ada', { isHost: true }, 'INVALID_MESSAGE', 'AB-234');
    await expectRejected('Ada', { isHost: true, password: 'x'.repeat(51) }, 'INVALID_MESSAGE');
    expect(isModerator(await joinAs('Ada', { isHost: true }))).to.equal(true);
  });

  it('makes moderators of the first participant and of holders of the creator token only', async () => {
    const { creatorToken } = await create();
    expect(isModerator(await joinAs('Ada'))).to.equal(true);
    expect(isModerator(await joinAs('Bob', { isHost: true }))).to.equal(false);
    expect(isModerator(await joinAs('Cleo', { creatorToken: 'no such' }))).to.equal(false);
    expect(isModerator(await joinAs('Dan', { creatorToken }))).to.equal(true);
  });

  it('requires the password, also of hosts and creators', async () => {
    const { creatorToken } = await create({ password: ' secret ' });
    for (const password of [undefined, '', 'Secret', 'x'.repeat(100_000)])
      await expectRejected('Ada', { password, creatorToken }, 'INVALID_PASSWORD');
    expect(isModerator(await joinAs('Ada', { password: ' secret' }))).to.equal(true);
    const room = `${roomId.slice(0, 5)}X`;
    await joinAs('Ada', { isHost: true, password: 'other' }, room);
    await expectRejected('Bob', { isHost: true }, 'INVALID_PASSWORD', room);
    await expectRejected('Bob', { password: 'secret' }, 'INVALID_PASSWORD', room);
    expect(isModerator(await joinAs('Bob', { password: 'other' }, room))).to.equal(false);
  });

  it('closes a socket after five wrong passwords', async () => {
    await create({ password: 'secret' });
    const eve = await expectRejected('Eve', {}, 'INVALID_PASSWORD');
    for (let n = 0; n < 5; n++) eve.send('join', { roomId, name: 'Eve', password: `guess ${n}` });
    expect((await eve.closed).code).to.equal(1008);
    expect(eve.news().map(({ code }) => code)).to.deep.equal(Array(5).fill('INVALID_PASSWORD'));
  });

  it('rejects everybody in a full room, even the creator and concurrent joins', async () => {
    const { creatorToken } = await create({ maxParticipants: 3 });
    const ada = await joinAs('Ada');
    const all = await Promise.all(Array.from({ length: 6 }, (_, n) => joinAs(`p${n}`)));
    const first = all.map(({ inbox: [message] }) => (message?.type === 'error' ? message.code : message?.type));
    expect(first.filter((each) => each === 'participant-joined')).to.have.length(2);
    expect(first.filter((each) => each === 'ROOM_FULL')).to.have.length(4);
    await expectRejected('Dan', { creatorToken }, 'ROOM_FULL');
    expect((await when('GET', '/health').thenAnswered(200)).body.totalParticipants).to.be.at.least(3);
    await ada.answered();
    expect(ada.inbox.filter(({ type }) => type === 'participant-joined')).to.have.length(3);
  });

  it('leaves the current room first, with a new id on joining again', async () => {
    const ada = await joinAs('Ada', { isHost: true });
    const bob = await joinAs('Bob');
    const formerId = bob.id;
    const inbox = await receivedBy({ ada, bob }, ada, () => bob.send('join', { roomId, name: 'Bobby' }));
    expect(bob.id).not.to.equal(formerId);
    expect(inbox.ada).to.deep.equal([
      { type: 'participant-left', roomId, participantId: formerId },
      joined(bob, 'Bobby'),
    ]);
    expect(inbox.bob).to.deep.equal([joined(bob, 'Bobby'), joined(ada, 'Ada', true)]);
    const other = `${roomId.slice(0, 5)}X`;
    const moved = await receivedBy({ ada, bob }, ada, () => bob.send('join', { roomId: other, name: 'Bob' }));
    expect(moved.ada).to.have.length(1);
    expect(moved.bob?.[0]).to.include({ code: 'ROOM_NOT_FOUND', roomId: '' });
    bob.send('chat', { text: 'am I there?' });
    await bob.answered();
    expect(bob.news()[0]).to.include({ code: 'NOT_JOINED' });
  });

  it('removes an ad-hoc room with its last participant, and keeps one that was created before', async () => {
    const ada = await joinAs('Ada', { isHost: true });
    ada.send('leave');
    await ada.answered();
    await expectRejected('Bob', {}, 'ROOM_NOT_FOUND');
    expect(isModerator(await joinAs('Bob', { isHost: true, password: 'new' }))).to.equal(true);
    roomId = `${roomId.slice(0, 5)}X`;
    await create();
    const cleo = await joinAs('Cleo');
    cleo.send('room-locked');
    cleo.send('leave');
    await cleo.answered();
    const dan = await joinAs('Dan');
    expect(dan.news()).to.deep.equal([joined(dan, 'Dan', true)]);
  });

  it('promotes the participant who is present longest when the last moderator leaves', async () => {
    const [ada, bob, cleo] = [await joinAs('Ada', { isHost: true }), await joinAs('Bob'), await joinAs('Cleo')];
    const id = ada.id;
    const inbox = await receivedBy({ bob, cleo }, bob, async () => {
      ada.socket.close();
      await bob.waitFor('moderator-action');
    });
    const left = { type: 'participant-left', roomId, participantId: id };
    const flags = { isMuted: false, isVideoOff: false, isHandRaised: false };
    const updated = {
      type: 'participant-updated',
      roomId,
      participantId: bob.id,
      isModerator: true,
      ...flags,
    };
    expect(inbox.cleo).to.deep.equal([left, updated]);
    expect(inbox.bob?.[0]).to.deep.equal(left);
    expect(inbox.bob?.slice(1)).to.have.deep.members([
      updated,
      {
        type: 'moderator-action',
        roomId,
        participantId: bob.id,
        targetId: bob.id,
        action: 'make-moderator',
      },
    ]);
  });

  it('processes messages sent right after joining, in order', async () => {
    const ada = await joinAs('Ada', { isHost: true });
    const bob = await open(meetings.base);
    open_.push(bob);
    const inbox = await receivedBy({ ada, bob }, ada, () => {
      bob.send('join', { roomId, name: 'Bob' });
      bob.send('offer', { targetId: ada.id, sdp: 'v=0' });
      bob.send('chat', { text: 'Hello' });
      bob.send('raise-hand');
      bob.send('chat', { text: 'Bye' });
      bob.send('leave');
    });
    expect(inbox.ada?.map(({ type }) => type)).to.deep.equal([
      'participant-joined',
      'offer',
      'chat',
      'raise-hand',
      'participant-updated',
      'chat',
      'participant-left',
    ]);
  });

  it('removes participants who disconnect while joining', async () => {
    const ada = await joinAs('Ada', { isHost: true });
    for (let n = 0; n < 5; n++) {
      const eve = await open(meetings.base);
      eve.send('join', { roomId, name: 'Eve' });
      eve.socket.close();
      await eve.closed;
    }
    // Some of them may still be joining and leaving.
    const bob = await joinAs('Bob');
    const counted = (type: string) => bob.inbox.filter((each) => each.type === type).length;
    await eventually(() => counted('participant-joined') === counted('participant-left') + 2);
    for (const each of [ada, bob]) {
      each.send('leave');
      await each.answered();
    }
    await eventually(async () => {
      const cleo = await joinAs('Cleo');
      cleo.send('leave');
      await cleo.answered();
      return cleo.inbox[0]?.code === 'ROOM_NOT_FOUND';
    });
  });
});
