/** Coming into a meeting over a socket: who may, as what, what they are told first, and what of it ends when they go. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { come, joinedIn, open, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('who comes to a meeting', function () {
  this.timeout(60_000);
  // Rooms that become empty end at once: that they stay otherwise is told in lost.test.ts.
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

  const comes = async (name: string, more: object = {}, room = roomId) => {
    const person = await come(meetings.base, room, name, more);
    open_.push(person);
    return person;
  };
  const made = async (more: object = {}) =>
    (await when('POST', '/api/rooms', { body: { roomId, ...more } }).thenAnswered(201)).body as {
      creatorToken: string;
    };
  const joined = (of: Person, name: string, isModerator = false) => joinedIn(roomId, of, name, isModerator);
  const refused = async (name: string, more: object, code: string, room = roomId) => {
    const person = await comes(name, more, room);
    const news = person.news();
    expect(news).to.have.length(1);
    expect(news[0]).to.include({ type: 'error', code, roomId: '', participantId: '' });
    expect(news[0]?.message).to.be.a('string').and.not.equal('');
    return person;
  };
  const isModerator = (person: Person) => person.inbox[0]?.isModerator;

  it('hears first that they are there, then of each who is, in order of joining; the others of them', async () => {
    const ada = await comes(' Ada ', { isHost: true }, ` ${roomId.toLowerCase()} `);
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
    const bob = await comes('Bob');
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

  it('finds no room that nobody made, and makes one as its host, where its id can be one', async () => {
    await refused('Ada', {}, 'ROOM_NOT_FOUND');
    await refused('Ada', {}, 'ROOM_NOT_FOUND', 'no room');
    await refused('Ada', { isHost: true }, 'INVALID_MESSAGE', 'AB-234');
    await refused('Ada', { isHost: true, password: 'x'.repeat(51) }, 'INVALID_MESSAGE');
    expect(isModerator(await comes('Ada', { isHost: true }))).to.equal(true);
  });

  it('moderates an empty room, or with the creator token, and not for saying that they are the host', async () => {
    const { creatorToken } = await made();
    expect(isModerator(await comes('Ada'))).to.equal(true);
    expect(isModerator(await comes('Bob', { isHost: true }))).to.equal(false);
    expect(isModerator(await comes('Cleo', { creatorToken: 'no such' }))).to.equal(false);
    expect(isModerator(await comes('Dan', { creatorToken }))).to.equal(true);
  });

  it('needs the password, whoever they are and whoever made the room', async () => {
    const { creatorToken } = await made({ password: ' secret ' });
    for (const password of [undefined, '', 'Secret', 'x'.repeat(100_000)])
      await refused('Ada', { password, creatorToken }, 'INVALID_PASSWORD');
    expect(isModerator(await comes('Ada', { password: ' secret' }))).to.equal(true);
    const room = `${roomId.slice(0, 5)}X`;
    await comes('Ada', { isHost: true, password: 'other' }, room);
    await refused('Bob', { isHost: true }, 'INVALID_PASSWORD', room);
    await refused('Bob', { password: 'secret' }, 'INVALID_PASSWORD', room);
    expect(isModerator(await comes('Bob', { password: 'other' }, room))).to.equal(false);
  });

  it('is sent away after five wrong passwords on a socket', async () => {
    await made({ password: 'secret' });
    const eve = await refused('Eve', {}, 'INVALID_PASSWORD');
    for (let n = 0; n < 5; n++) eve.send('join', { roomId, name: 'Eve', password: `guess ${n}` });
    expect((await eve.closed).code).to.equal(1008);
    expect(eve.news().map(({ code }) => code)).to.deep.equal(Array(5).fill('INVALID_PASSWORD'));
  });

  it('finds it full at the cap, the creator too, and however many come at once', async () => {
    const { creatorToken } = await made({ maxParticipants: 3 });
    const ada = await comes('Ada');
    const all = await Promise.all(Array.from({ length: 6 }, (_, n) => comes(`p${n}`)));
    const first = all.map(({ inbox: [message] }) => (message?.type === 'error' ? message.code : message?.type));
    expect(first.filter((each) => each === 'participant-joined')).to.have.length(2);
    expect(first.filter((each) => each === 'ROOM_FULL')).to.have.length(4);
    await refused('Dan', { creatorToken }, 'ROOM_FULL');
    expect((await when('GET', '/health').thenAnswered(200)).body.totalParticipants).to.be.at.least(3);
    await ada.answered();
    expect(ada.inbox.filter(({ type }) => type === 'participant-joined')).to.have.length(3);
  });

  it('leaves where they were first when they join again, and is somebody else', async () => {
    const ada = await comes('Ada', { isHost: true });
    const bob = await comes('Bob');
    const former = bob.id;
    const inbox = await receivedBy({ ada, bob }, ada, () => bob.send('join', { roomId, name: 'Bobby' }));
    expect(bob.id).not.to.equal(former);
    expect(inbox.ada).to.deep.equal([
      { type: 'participant-left', roomId, participantId: former },
      joined(bob, 'Bobby'),
    ]);
    expect(inbox.bob).to.deep.equal([joined(bob, 'Bobby'), joined(ada, 'Ada', true)]);
    const other = `${roomId.slice(0, 5)}X`;
    const gone = await receivedBy({ ada, bob }, ada, () => bob.send('join', { roomId: other, name: 'Bob' }));
    expect(gone.ada).to.have.length(1);
    expect(gone.bob?.[0]).to.include({ code: 'ROOM_NOT_FOUND', roomId: '' });
    bob.send('chat', { text: 'am I there?' });
    await bob.answered();
    expect(bob.news()[0]).to.include({ code: 'NOT_JOINED' });
  });

  it('finds a room that was made on the fly gone with its last person, and one made before still there', async () => {
    const ada = await comes('Ada', { isHost: true });
    ada.send('leave');
    await ada.answered();
    await refused('Bob', {}, 'ROOM_NOT_FOUND');
    expect(isModerator(await comes('Bob', { isHost: true, password: 'new' }))).to.equal(true);
    roomId = `${roomId.slice(0, 5)}X`;
    await made();
    const cleo = await comes('Cleo');
    cleo.send('room-locked');
    cleo.send('leave');
    await cleo.answered();
    const dan = await comes('Dan');
    expect(dan.news()).to.deep.equal([joined(dan, 'Dan', true)]);
  });

  it('hears when the last moderator goes who is one now: the longest present, who is told so', async () => {
    const [ada, bob, cleo] = [await comes('Ada', { isHost: true }), await comes('Bob'), await comes('Cleo')];
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

  it('may say at once what they came to say', async () => {
    const ada = await comes('Ada', { isHost: true });
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

  it('who goes while they come is not left behind', async () => {
    const ada = await comes('Ada', { isHost: true });
    for (let n = 0; n < 5; n++) {
      const eve = await open(meetings.base);
      eve.send('join', { roomId, name: 'Eve' });
      eve.socket.close();
      await eve.closed;
    }
    // Some of them may still be on their way in, and out again.
    const bob = await comes('Bob');
    const counted = (type: string) => bob.inbox.filter((each) => each.type === type).length;
    await eventually(() => counted('participant-joined') === counted('participant-left') + 2);
    for (const each of [ada, bob]) {
      each.send('leave');
      await each.answered();
    }
    await eventually(async () => {
      const cleo = await comes('Cleo');
      cleo.send('leave');
      await cleo.answered();
      return cleo.inbox[0]?.code === 'ROOM_NOT_FOUND';
    });
  });
});
