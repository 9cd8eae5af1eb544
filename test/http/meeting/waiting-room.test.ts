/** The waiting room over sockets: who is told of whom, who is let in or sent away, and what ends it. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { come, joinedIn, type MeetingMessage, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('at the door of a meeting', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1', '--meeting-return-seconds': '0.5' });
  const { when } = meetings;
  let count = 0;
  let roomId: string;
  let creatorToken: string;
  let [ada, bob]: Person[] = [];
  const people: Person[] = [];
  const comes = async (name: string, more: object = {}, from?: string) => {
    const person = await come(meetings.base, roomId, name, more, from);
    people.push(person);
    return person;
  };
  beforeEach(async () => {
    roomId = `WAIT${String(++count).padStart(2, '0')}`;
    const body = { roomId, maxParticipants: 3 };
    ({ creatorToken } = (await when('POST', '/api/rooms', { body }).thenAnswered(201)).body);
    ada = await comes('Ada');
    bob = await comes('Bob');
  });
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });

  const lock = async () => {
    ada!.send('room-locked');
    await ada!.answered();
  };
  const waits = (who: Person, name: string): MeetingMessage => ({
    type: 'waiting-room',
    roomId,
    participantId: who.id,
    name,
  });
  const joined = (of: Person, name: string, isModerator = false) => joinedIn(roomId, of, name, isModerator);
  const left = (participantId: string): MeetingMessage => ({ type: 'participant-left', roomId, participantId });
  const locked = () => ({ type: 'room-locked', roomId, participantId: ada!.id, lockedBy: ada!.id });

  it('who comes waits, and the moderators and they hear so; but not who made the room', async () => {
    await lock();
    let dan: Person;
    const inbox = await receivedBy({ ada: ada!, bob: bob! }, ada!, async () => {
      dan = await comes('Dan');
    });
    expect(inbox).to.deep.equal({ ada: [waits(dan!, 'Dan')] });
    expect(dan!.news()).to.deep.equal([waits(dan!, 'Dan')]);
    const eve = await comes('Eve', { creatorToken });
    expect(eve.news().map(({ type }) => type)).to.deep.equal([
      'participant-joined',
      'participant-joined',
      'participant-joined',
      'room-locked',
      'waiting-room',
    ]);
  });

  it('who is admitted comes in as who waited, and everybody hears so', async () => {
    await lock();
    const dan = await comes('Dan');
    const id = dan.id;
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, () =>
      ada!.send('admit-user', { targetId: id }),
    );
    expect(dan.id).to.equal(id);
    expect(inbox).to.deep.equal({
      ada: [joined(dan, 'Dan')],
      bob: [joined(dan, 'Dan')],
      dan: [joined(dan, 'Dan'), joined(ada!, 'Ada', true), joined(bob!, 'Bob'), locked()],
    });
    expect(await receivedBy({ ada: ada!, dan }, ada!, () => ada!.send('admit-user', { targetId: id }))).to.deep.equal(
      {},
    );
    expect(
      await receivedBy({ ada: ada!, dan }, ada!, () => ada!.send('reject-user', { targetId: 'x', reason: '' })),
    ).to.deep.equal({});
  });

  it('at the cap the moderator hears that it is full, and who waits goes on waiting', async () => {
    await lock();
    const [dan, eve] = [await comes('Dan'), await comes('Eve')];
    ada!.send('admit-user', { targetId: dan.id });
    await ada!.answered();
    const inbox = await receivedBy({ ada: ada!, bob: bob!, eve }, ada!, () =>
      ada!.send('admit-user', { targetId: eve.id }),
    );
    expect(inbox.ada?.[0]).to.include({ type: 'error', code: 'ROOM_FULL', roomId, participantId: ada!.id });
    expect([inbox.bob, inbox.eve]).to.deep.equal([undefined, undefined]);
    bob!.send('leave');
    await bob!.answered();
    ada!.send('admit-user', { targetId: eve.id });
    await eve.waitFor('participant-joined');
  });

  it('who is rejected hears why, from whom, and is sent away with 4004', async () => {
    await lock();
    const dan = await comes('Dan');
    const id = dan.id;
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, () =>
      ada!.send('reject-user', { targetId: id, reason: 'Not today' }),
    );
    expect(inbox).to.deep.equal({
      ada: [left(id)],
      dan: [{ type: 'reject-user', roomId, participantId: ada!.id, targetId: id, reason: 'Not today' }],
    });
    expect((await dan.closed).code).to.equal(4004);
  });

  it('only moderators decide, and who waits does nothing in the room', async () => {
    await lock();
    const dan = await comes('Dan');
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, () => {
      bob!.send('admit-user', { targetId: dan.id });
      bob!.send('reject-user', { targetId: dan.id, reason: '' });
      dan.send('chat', { text: 'Let me in' });
      dan.send('offer', { targetId: ada!.id, sdp: 'v=0' });
      dan.send('raise-hand');
      dan.send('room-unlocked');
    });
    expect(inbox.bob?.map(({ code }) => code)).to.deep.equal(['UNAUTHORIZED', 'UNAUTHORIZED']);
    expect(inbox.dan?.map(({ code }) => code)).to.deep.equal(Array(4).fill('NOT_JOINED'));
    expect(inbox.ada).to.equal(undefined);
  });

  it('who waits and goes is told to moderators, whether they say so or not', async () => {
    await lock();
    const [dan, eve] = [await comes('Dan'), await comes('Eve')];
    const ids = [dan.id, eve.id];
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, async () => {
      dan.send('leave');
      await dan.answered();
      eve.socket.terminate();
      await ada!.waitFor((each) => each.participantId === ids[1] && each.type === 'participant-left');
    });
    expect(inbox).to.deep.equal({ ada: ids.map(left) });
  });

  it('who becomes a moderator hears of all who still wait, and not again where they are one', async () => {
    await lock();
    const [dan, eve] = [await comes('Dan'), await comes('Eve')];
    const promote = () => ada!.send('moderator-action', { targetId: bob!.id, action: 'make-moderator' });
    const inbox = await receivedBy({ bob: bob! }, bob!, promote);
    await bob!.waitFor((each) => each.participantId === eve.id);
    expect([...(inbox.bob ?? []), ...bob!.news()].slice(2)).to.deep.equal([waits(dan, 'Dan'), waits(eve, 'Eve')]);
    const again = await receivedBy({ bob: bob! }, bob!, promote);
    expect(again.bob?.map(({ type }) => type)).to.deep.equal(['moderator-action', 'participant-updated']);
  });

  it('who waits is not in the room: nobody acts upon them, reaches them, or counts them', async () => {
    const total = async () => (await when('GET', '/health').thenAnswered(200)).body.totalParticipants;
    // Whose connections were lost in other tests are counted until they leave.
    const before = 2;
    await eventually(async () => (await total()) === before);
    await lock();
    const dan = await comes('Dan');
    const targetId = dan.id;
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, () => {
      for (const action of ['mute', 'kick', 'make-moderator']) ada!.send('moderator-action', { targetId, action });
      ada!.send('offer', { targetId, sdp: 'v=0' });
      ada!.send('reject-user', { targetId: bob!.id, reason: 'is inside' });
    });
    expect(inbox.ada?.map(({ code }) => code)).to.deep.equal(Array(3).fill('TARGET_NOT_FOUND'));
    expect([inbox.bob, inbox.dan]).to.deep.equal([undefined, undefined]);
    expect(await total()).to.equal(before);
  });

  it('who waits and joins again leaves first, and waits as somebody else', async () => {
    await lock();
    const dan = await comes('Dan');
    const former = dan.id;
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, () =>
      dan.send('join', { roomId, name: 'Daniel' }),
    );
    expect(dan.id).not.to.equal(former);
    expect(inbox).to.deep.equal({
      ada: [left(former), waits(dan, 'Daniel')],
      dan: [waits(dan, 'Daniel')],
    });
  });

  it('who made a locked room finds it full at the cap, like everybody, and does not wait', async () => {
    await comes('Cleo');
    await lock();
    const creator = await comes('Creator', { creatorToken });
    expect(creator.news().map(({ code }) => code)).to.deep.equal(['ROOM_FULL']);
    const dan = await comes('Dan', { creatorToken: 'of no room' });
    expect(dan.news()).to.deep.equal([waits(dan, 'Dan')]);
  });

  it('unlocking admits who waits, up to the cap', async () => {
    await lock();
    const [dan, eve] = [await comes('Dan'), await comes('Eve')];
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan, eve }, ada!, () => ada!.send('room-unlocked'));
    const unlocked = { type: 'room-unlocked', roomId, participantId: ada!.id, unlockedBy: ada!.id };
    expect(inbox).to.deep.equal({
      ada: [unlocked, joined(dan, 'Dan')],
      bob: [unlocked, joined(dan, 'Dan')],
      dan: [joined(dan, 'Dan'), joined(ada!, 'Ada', true), joined(bob!, 'Bob')],
    });
  });

  it('who was kicked comes back only through it, and who comes from elsewhere does not wait', async () => {
    const dan = await comes('Dan', {}, '198.51.100.7');
    ada!.send('moderator-action', { targetId: dan.id, action: 'kick' });
    expect((await dan.closed).code).to.equal(4003);
    const again = await comes('Dan', {}, '198.51.100.7');
    expect(again.news()).to.deep.equal([waits(again, 'Dan')]);
    ada!.send('room-unlocked');
    await ada!.answered();
    await again.answered();
    expect(again.news(), 'no lock was lifted').to.deep.equal([]);
    const eve = await comes('Eve', {}, '198.51.100.8');
    expect(eve.news()[0]).to.deep.equal(joined(eve, 'Eve'));
    eve.send('leave');
    await eve.answered();
    ada!.send('admit-user', { targetId: again.id });
    await again.waitFor('participant-joined');
  });

  it('nobody who was kicked is let in, and leads, by the last of the others going', async () => {
    const eve = await comes('Eve', {}, '198.51.100.9');
    ada!.send('moderator-action', { targetId: eve.id, action: 'kick' });
    await eve.closed;
    const again = await comes('Eve', {}, '198.51.100.9');
    again.news();
    for (const who of [bob!, ada!]) {
      who.send('leave');
      await who.answered();
    }
    ada!.news();
    ada!.send('join', { roomId, name: 'Ada' });
    await ada!.answered();
    expect(ada!.news()).to.deep.equal([joined(ada!, 'Ada', true), waits(again, 'Eve')]);
    await again.answered();
    expect(again.news()).to.deep.equal([]);
  });

  it('who is let in hears who locked the room, of several who may have', async () => {
    ada!.send('moderator-action', { targetId: bob!.id, action: 'make-moderator' });
    await ada!.answered();
    bob!.send('room-locked');
    await bob!.answered();
    const dan = await comes('Dan');
    ada!.send('admit-user', { targetId: dan.id });
    expect(await dan.waitFor('room-locked')).to.include({ participantId: bob!.id, lockedBy: bob!.id });
  });

  it('who waits for a meeting that is over hears that there is none', async () => {
    const room = `${roomId.slice(0, 5)}X`;
    const host = await come(meetings.base, room, 'Host', { isHost: true });
    host.send('room-locked');
    await host.answered();
    const dan = await come(meetings.base, room, 'Dan');
    const id = dan.id;
    dan.news();
    host.send('leave');
    await host.answered();
    await dan.waitFor('error');
    expect(await dan.waitFor((each) => each.code === 'ROOM_NOT_FOUND')).to.include({
      roomId: room,
      participantId: id,
    });
    dan.send('leave');
    await dan.answered();
    expect(dan.news().at(-1)).to.include({ code: 'NOT_JOINED' });
    for (const { socket } of [host, dan]) socket.terminate();
  });
});
