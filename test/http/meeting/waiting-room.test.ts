/** The waiting room over sockets: announcements, admission, rejection, and what ends it. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { enterRoom, joinedIn, type MeetingMessage, type Person, receivedBy } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('meeting waiting room', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--server-trusted-proxies': '127.0.0.1', '--meeting-return-seconds': '0.5' });
  const { when } = meetings;
  let count = 0;
  let roomId: string;
  let creatorToken: string;
  let [ada, bob]: Person[] = [];
  const people: Person[] = [];
  const joinFrom = async (name: string, more: object = {}, from?: string) => {
    const person = await enterRoom(meetings.base, roomId, name, more, from);
    people.push(person);
    return person;
  };
  beforeEach(async () => {
    roomId = `WAIT${String(++count).padStart(2, '0')}`;
    const body = { roomId, maxParticipants: 3 };
    ({ creatorToken } = (await when('POST', '/api/rooms', { body }).thenAnswered(201)).body);
    ada = await joinFrom('Ada');
    bob = await joinFrom('Bob');
  });
  afterEach(() => {
    for (const { socket } of people.splice(0)) socket.terminate();
  });

  const lock = async () => {
    ada!.send('room-locked');
    await ada!.answered();
  };
  const waitingMessage = (who: Person, name: string): MeetingMessage => ({
    type: 'waiting-room',
    roomId,
    participantId: who.id,
    name,
  });
  const joined = (of: Person, name: string, isModerator = false) => joinedIn(roomId, of, name, isModerator);
  const leftMessage = (participantId: string): MeetingMessage => ({ type: 'participant-left', roomId, participantId });
  const locked = () => ({ type: 'room-locked', roomId, participantId: ada!.id, lockedBy: ada!.id });

  it('holds new participants, announced to moderators only, and admits the creator', async () => {
    await lock();
    let dan: Person;
    const inbox = await receivedBy({ ada: ada!, bob: bob! }, ada!, async () => {
      dan = await joinFrom('Dan');
    });
    expect(inbox).to.deep.equal({ ada: [waitingMessage(dan!, 'Dan')] });
    expect(dan!.news()).to.deep.equal([waitingMessage(dan!, 'Dan')]);
    const eve = await joinFrom('Eve', { creatorToken });
    expect(eve.news().map(({ type }) => type)).to.deep.equal([
      'participant-joined',
      'participant-joined',
      'participant-joined',
      'room-locked',
      'waiting-room',
    ]);
  });

  it('lets an admitted participant in under the same id, announced to everybody', async () => {
    await lock();
    const dan = await joinFrom('Dan');
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

  it('keeps participants waiting when the room is full, and tells the moderator', async () => {
    await lock();
    const [dan, eve] = [await joinFrom('Dan'), await joinFrom('Eve')];
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

  it('tells a rejected participant the reason, and closes with 4004', async () => {
    await lock();
    const dan = await joinFrom('Dan');
    const id = dan.id;
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, () =>
      ada!.send('reject-user', { targetId: id, reason: 'Not today' }),
    );
    expect(inbox).to.deep.equal({
      ada: [leftMessage(id)],
      dan: [{ type: 'reject-user', roomId, participantId: ada!.id, targetId: id, reason: 'Not today' }],
    });
    expect((await dan.closed).code).to.equal(4004);
  });

  it('lets only moderators decide, and waiting participants do nothing', async () => {
    await lock();
    const dan = await joinFrom('Dan');
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

  it('announces to moderators when a waiting participant leaves or disconnects', async () => {
    await lock();
    const [dan, eve] = [await joinFrom('Dan'), await joinFrom('Eve')];
    const ids = [dan.id, eve.id];
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, async () => {
      dan.send('leave');
      await dan.answered();
      eve.socket.terminate();
      await ada!.waitFor((each) => each.participantId === ids[1] && each.type === 'participant-left');
    });
    expect(inbox).to.deep.equal({ ada: ids.map(leftMessage) });
  });

  it('shows waiting participants to a new moderator, once', async () => {
    await lock();
    const [dan, eve] = [await joinFrom('Dan'), await joinFrom('Eve')];
    const promote = () => ada!.send('moderator-action', { targetId: bob!.id, action: 'make-moderator' });
    const inbox = await receivedBy({ bob: bob! }, bob!, promote);
    await bob!.waitFor((each) => each.participantId === eve.id);
    expect([...(inbox.bob ?? []), ...bob!.news()].slice(2)).to.deep.equal([
      waitingMessage(dan, 'Dan'),
      waitingMessage(eve, 'Eve'),
    ]);
    const again = await receivedBy({ bob: bob! }, bob!, promote);
    expect(again.bob?.map(({ type }) => type)).to.deep.equal(['moderator-action', 'participant-updated']);
  });

  it('keeps waiting participants out of actions, signals and counts', async () => {
    const total = async () => (await when('GET', '/health').thenAnswered(200)).body.totalParticipants;
    // Connections lost in other tests count until the return period ends.
    const before = 2;
    await eventually(async () => (await total()) === before);
    await lock();
    const dan = await joinFrom('Dan');
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

  it('gives a waiting participant who joins again a new id', async () => {
    await lock();
    const dan = await joinFrom('Dan');
    const formerId = dan.id;
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan }, ada!, () =>
      dan.send('join', { roomId, name: 'Daniel' }),
    );
    expect(dan.id).not.to.equal(formerId);
    expect(inbox).to.deep.equal({
      ada: [leftMessage(formerId), waitingMessage(dan, 'Daniel')],
      dan: [waitingMessage(dan, 'Daniel')],
    });
  });

  it('does not hold the creator, who is rejected from a full room like everybody', async () => {
    await joinFrom('Cleo');
    await lock();
    const creator = await joinFrom('Creator', { creatorToken });
    expect(creator.news().map(({ code }) => code)).to.deep.equal(['ROOM_FULL']);
    const dan = await joinFrom('Dan', { creatorToken: 'of no room' });
    expect(dan.news()).to.deep.equal([waitingMessage(dan, 'Dan')]);
  });

  it('admits waiting participants when unlocked, up to the limit', async () => {
    await lock();
    const [dan, eve] = [await joinFrom('Dan'), await joinFrom('Eve')];
    const inbox = await receivedBy({ ada: ada!, bob: bob!, dan, eve }, ada!, () => ada!.send('room-unlocked'));
    const unlocked = { type: 'room-unlocked', roomId, participantId: ada!.id, unlockedBy: ada!.id };
    expect(inbox).to.deep.equal({
      ada: [unlocked, joined(dan, 'Dan')],
      bob: [unlocked, joined(dan, 'Dan')],
      dan: [joined(dan, 'Dan'), joined(ada!, 'Ada', true), joined(bob!, 'Bob')],
    });
  });

  it('holds a kicked participant even when unlocked, but not others from elsewhere', async () => {
    const dan = await joinFrom('Dan', {}, '198.51.100.7');
    ada!.send('moderator-action', { targetId: dan.id, action: 'kick' });
    expect((await dan.closed).code).to.equal(4003);
    const again = await joinFrom('Dan', {}, '198.51.100.7');
    expect(again.news()).to.deep.equal([waitingMessage(again, 'Dan')]);
    ada!.send('room-unlocked');
    await ada!.answered();
    await again.answered();
    expect(again.news(), 'the room was not locked').to.deep.equal([]);
    const eve = await joinFrom('Eve', {}, '198.51.100.8');
    expect(eve.news()[0]).to.deep.equal(joined(eve, 'Eve'));
    eve.send('leave');
    await eve.answered();
    ada!.send('admit-user', { targetId: again.id });
    await again.waitFor('participant-joined');
  });

  it('does not admit kicked participants when everybody else leaves', async () => {
    const eve = await joinFrom('Eve', {}, '198.51.100.9');
    ada!.send('moderator-action', { targetId: eve.id, action: 'kick' });
    await eve.closed;
    const again = await joinFrom('Eve', {}, '198.51.100.9');
    again.news();
    for (const who of [bob!, ada!]) {
      who.send('leave');
      await who.answered();
    }
    ada!.news();
    ada!.send('join', { roomId, name: 'Ada' });
    await ada!.answered();
    expect(ada!.news()).to.deep.equal([joined(ada!, 'Ada', true), waitingMessage(again, 'Eve')]);
    await again.answered();
    expect(again.news()).to.deep.equal([]);
  });

  it('tells admitted participants which moderator locked the room', async () => {
    ada!.send('moderator-action', { targetId: bob!.id, action: 'make-moderator' });
    await ada!.answered();
    bob!.send('room-locked');
    await bob!.answered();
    const dan = await joinFrom('Dan');
    ada!.send('admit-user', { targetId: dan.id });
    expect(await dan.waitFor('room-locked')).to.include({ participantId: bob!.id, lockedBy: bob!.id });
  });

  it('tells waiting participants when the meeting has ended', async () => {
    const room = `${roomId.slice(0, 5)}X`;
    const host = await enterRoom(meetings.base, room, 'Host', { isHost: true });
    host.send('room-locked');
    await host.answered();
    const dan = await enterRoom(meetings.base, room, 'Dan');
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
