/** Who was in a meeting: told to who made its room, for as long as it is kept, and to nobody else. */
import { expect } from 'chai';
import { createAttendance } from '../../../application/meeting/attendance.js';
import { createEraseMeetings } from '../../../application/meeting/erase-meetings.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { ask } from '../../support/chat-client.js';
import { DAY, doesTo, joinRoom, leaveRoom, returning } from '../../support/meeting-fixtures.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('the attendance of a meeting', function () {
  this.timeout(120_000);
  const meetings = useMeeting();
  const { given, when } = meetings;
  const now = Date.now();
  const made = (body: object): Promise<{ roomId: string; creatorToken: string }> =>
    given('POST', '/api/rooms', { body });
  const attendance = (roomId: string, token?: string) =>
    when('GET', `/api/rooms/${roomId}/attendance`, token === undefined ? {} : { token });
  const join = (roomId: string, who: string, at: number, creatorHash?: string) => ({
    ...joinRoom(who),
    roomId,
    name: `${who} of ${roomId}`,
    creatorHash,
    now: now + at,
  });
  const leave = (roomId: string, who: string, at: number) => ({ ...leaveRoom(who), roomId, now: now + at });
  const end = (roomId: string) => ({ type: 'EndRoom' as const, roomId, now: now + 9 * DAY });

  it('says who was there, from when to when, whoever let them in and however they went', async () => {
    const { roomId, creatorToken } = await made({ roomId: 'ATTEND', title: 'Monday' });
    await meetings.act(
      join(roomId, 'ada', 10),
      join(roomId, 'bob', 20),
      { type: 'LockRoom', roomId, by: 'ada', now: now + 25 },
      join(roomId, 'cyd', 30),
      join(roomId, 'eve', 35),
      { ...doesTo('ada', 'AdmitUser', 'cyd', now + 40), roomId },
      { type: 'RejectUser', roomId, by: 'ada', participantId: 'eve', reason: 'no', now: now + 45 },
      leave(roomId, 'bob', 50),
      { ...doesTo('ada', 'KickParticipant', 'cyd', now + 60), roomId },
    );
    const { body, headers } = await attendance('attend', creatorToken).thenAnswered(200);
    expect(body).to.have.all.keys('roomId', 'title', 'openedAt', 'participants');
    expect(body).to.include({ roomId, title: 'Monday' });
    const visit = (participantId: string, joinedAt: number, leftAt?: number) => ({
      participantId,
      name: `${participantId} of ${roomId}`,
      joinedAt: now + joinedAt,
      ...(leftAt !== undefined && { leftAt: now + leftAt }),
    });
    expect(body.participants).to.deep.equal([visit('bob', 20, 50), visit('cyd', 40, 60), visit('ada', 10)]);
    expect(headers.get('cache-control')).to.equal('no-store');
    expect(headers.get('x-frame-options')).to.equal('DENY');
  });

  it('has both visits of who left and came back as who they were, under their name', async () => {
    const { roomId, creatorToken } = await made({ roomId: 'REJOIN' });
    await meetings.act(
      join(roomId, 'ada', 10),
      join(roomId, 'bob', 20),
      leave(roomId, 'bob', 30),
      { ...returning('bob', now + 40), roomId },
      leave(roomId, 'bob', 50),
    );
    const { body } = await attendance(roomId, creatorToken).thenAnswered(200);
    const bob = { participantId: 'bob', name: `bob of ${roomId}` };
    expect(body.participants.slice(0, 2)).to.deep.equal([
      { ...bob, joinedAt: now + 20, leftAt: now + 30 },
      { ...bob, joinedAt: now + 40, leftAt: now + 50 },
    ]);
  });

  it('is for nobody else, and of no other room', async () => {
    const { roomId, creatorToken } = await made({});
    const other = await made({});
    await attendance(roomId, creatorToken).thenAnswered(200, { participants: [] });
    const { headers } = await attendance(roomId).thenRefused(401);
    expect(headers.get('www-authenticate')).to.equal('Bearer');
    await attendance(roomId, other.creatorToken).thenRefused(401);
    await attendance(roomId, `${creatorToken.slice(0, -1)}?`).thenRefused(401);
    await attendance('NONE22', creatorToken).thenRefused(404);
    await attendance('no-id', creatorToken).thenRefused(404);
  });

  it('is looked for by nobody who has no token: whoever guesses has nothing read for them', async () => {
    const { roomId } = await made({});
    const { streams, decryptEvent } = await meetings.observer();
    const read = () => {
      throw new Error('the stream of the room was read');
    };
    const guess = createAttendance({ log: { read }, streams, decryptEvent });
    expect(await guess(roomId, 'guessed', 'eve')).to.include({ rejected: 'meeting/unauthorized' });
  });

  it('is of one meeting only, where the id of its room was used again', async () => {
    const first = await made({ roomId: 'TWICE2' });
    await meetings.act(join('TWICE2', 'ada', 10), leave('TWICE2', 'ada', 20), end('TWICE2'));
    const second = await made({ roomId: 'TWICE2' });
    await meetings.act(join('TWICE2', 'bob', 30));
    const of = async (token: string) =>
      (await attendance('TWICE2', token).thenAnswered(200)).body.participants.map(
        ({ participantId, leftAt }: { participantId: string; leftAt?: number }) => [participantId, leftAt],
      );
    expect(await of(first.creatorToken)).to.deep.equal([['ada', now + 20]]);
    expect(await of(second.creatorToken)).to.deep.equal([['bob', undefined]]);
  });

  it('is whole of a meeting that runs, where the one before it under its id is erased', async () => {
    const first = await made({ roomId: 'AFTER2' });
    await meetings.act(join('AFTER2', 'ada', 10), leave('AFTER2', 'ada', 20), end('AFTER2'));
    const second = await made({ roomId: 'AFTER2' });
    await meetings.act(join('AFTER2', 'bob', 30), join('AFTER2', 'cleo', 40));
    const kernel = await meetings.observer();
    const erase = createEraseMeetings(kernel);
    expect(await erase('AFTER2', () => kernel.systemContext('operator'))).to.equal(1);
    await attendance('AFTER2', first.creatorToken).thenRefused(401);
    const { body } = await attendance('AFTER2', second.creatorToken).thenAnswered(200);
    const ids = body.participants.map(({ participantId }: { participantId: string }) => participantId);
    expect(ids).to.deep.equal(['bob', 'cleo']);
  });

  it('has all of a long meeting, beyond what is read at once', async () => {
    const { roomId, creatorToken } = await made({});
    const visits = Array.from({ length: 250 }, (_, n) => [join(roomId, `p${n}`, n), leave(roomId, `p${n}`, n + 1)]);
    await meetings.act(...visits.flat());
    const { body } = await attendance(roomId, creatorToken).thenAnswered(200);
    expect(body.participants.map(({ participantId }: { participantId: string }) => participantId)).to.deep.equal(
      visits.map((_, n) => `p${n}`),
    );
  });

  it('is gone when it is erased, name by name, and the room can be made again', async () => {
    const { roomId, creatorToken } = await made({ roomId: 'ERASED' });
    await meetings.act(join(roomId, 'ada', 10));
    const kernel = await meetings.observer();
    const erase = () => createEraseMeetings(kernel)(roomId, () => kernel.systemContext('operator'));
    expect(await erase(), 'while it goes on').to.equal(0);
    await attendance(roomId, creatorToken).thenAnswered(200);
    await meetings.act(leave(roomId, 'ada', 20), end(roomId));
    expect(await erase()).to.equal(1);
    expect(await erase()).to.equal(0);
    await attendance(roomId, creatorToken).thenRefused(404);
    const left = await kernel.log.read(roomStream(roomId));
    expect(typeof left === 'string' ? left : left.map(({ type }) => type)).to.deep.equal(['MeetingErased']);
    const again = await made({ roomId });
    await meetings.act(join(roomId, 'bob', 30));
    await attendance(roomId, creatorToken).thenRefused(401);
    const { body } = await attendance(roomId, again.creatorToken).thenAnswered(200);
    expect(body.participants).to.have.length(1);
  });
});

describe('the attendance of a meeting on another node', function () {
  this.timeout(60_000);
  const meetings = useMeeting({}, 2);

  it('is what the log says, at once', async () => {
    const [one = '', other = ''] = meetings.bases;
    const { body } = await ask(one, 'POST', '/api/rooms', { body: {} });
    const path = `/api/rooms/${body.roomId}/attendance`;
    const { status } = await ask(other, 'GET', path, { token: body.creatorToken });
    expect(status).to.equal(200);
  });
});
