/** Attendance of a meeting: readable by the creator of the room until it is erased. */
import { expect } from 'chai';
import { createAttendance } from '../../../application/meeting/attendance.js';
import { createEraseMeetings } from '../../../application/meeting/erase-meetings.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { ask } from '../../support/http-spec.js';
import { DAY, doesTo, joinRoom, leaveRoom, returning } from '../../support/meeting-fixtures.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('attendance of a meeting', function () {
  this.timeout(120_000);
  const meetings = useMeeting();
  const { given, when } = meetings;
  const now = Date.now();
  const create = (body: object): Promise<{ roomId: string; creatorToken: string }> =>
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

  it('lists visits with times, including admitted and kicked participants', async () => {
    const { roomId, creatorToken } = await create({ roomId: 'ATTEND', title: 'Monday' });
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

  it('lists both visits of a participant who left and came back', async () => {
    const { roomId, creatorToken } = await create({ roomId: 'REJOIN' });
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

  it('requires the creator token of the room', async () => {
    const { roomId, creatorToken } = await create({});
    const other = await create({});
    await attendance(roomId, creatorToken).thenAnswered(200, { participants: [] });
    const { headers } = await attendance(roomId).thenRefused(401);
    expect(headers.get('www-authenticate')).to.equal('Bearer');
    await attendance(roomId, other.creatorToken).thenRefused(401);
    await attendance(roomId, `${creatorToken.slice(0, -1)}?`).thenRefused(401);
    await attendance('NONE22', creatorToken).thenRefused(404);
    await attendance('no-id', creatorToken).thenRefused(404);
  });

  it('does not read the log for callers without a valid token', async () => {
    const { roomId } = await create({});
    const { aggregates, decryptEvent } = await meetings.observer();
    const read = () => {
      throw new Error('the stream of the room was read');
    };
    const guess = createAttendance({ log: { read }, aggregates, decryptEvent });
    expect(await guess(roomId, 'guessed', 'eve')).to.include({ rejected: 'meeting/unauthorized' });
  });

  it('covers one meeting when a room id is used again', async () => {
    const first = await create({ roomId: 'TWICE2' });
    await meetings.act(join('TWICE2', 'ada', 10), leave('TWICE2', 'ada', 20), end('TWICE2'));
    const second = await create({ roomId: 'TWICE2' });
    await meetings.act(join('TWICE2', 'bob', 30));
    const of = async (token: string) =>
      (await attendance('TWICE2', token).thenAnswered(200)).body.participants.map(
        ({ participantId, leftAt }: { participantId: string; leftAt?: number }) => [participantId, leftAt],
      );
    expect(await of(first.creatorToken)).to.deep.equal([['ada', now + 20]]);
    expect(await of(second.creatorToken)).to.deep.equal([['bob', undefined]]);
  });

  it('is complete for a current meeting after the previous one under its id was erased', async () => {
    const first = await create({ roomId: 'AFTER2' });
    await meetings.act(join('AFTER2', 'ada', 10), leave('AFTER2', 'ada', 20), end('AFTER2'));
    const second = await create({ roomId: 'AFTER2' });
    await meetings.act(join('AFTER2', 'bob', 30), join('AFTER2', 'cleo', 40));
    const kernel = await meetings.observer();
    const erase = createEraseMeetings(kernel);
    expect(await erase('AFTER2', () => kernel.systemContext('operator'))).to.have.length(1);
    await attendance('AFTER2', first.creatorToken).thenRefused(401);
    const { body } = await attendance('AFTER2', second.creatorToken).thenAnswered(200);
    const ids = body.participants.map(({ participantId }: { participantId: string }) => participantId);
    expect(ids).to.deep.equal(['bob', 'cleo']);
  });

  it('covers long meetings that are read in several pages', async () => {
    const { roomId, creatorToken } = await create({});
    const visits = Array.from({ length: 250 }, (_, n) => [join(roomId, `p${n}`, n), leave(roomId, `p${n}`, n + 1)]);
    await meetings.act(...visits.flat());
    const { body } = await attendance(roomId, creatorToken).thenAnswered(200);
    expect(body.participants.map(({ participantId }: { participantId: string }) => participantId)).to.deep.equal(
      visits.map((_, n) => `p${n}`),
    );
  });

  it('is deleted completely when erased, and the room id can be used again', async () => {
    const { roomId, creatorToken } = await create({ roomId: 'ERASED' });
    await meetings.act(join(roomId, 'ada', 10));
    const kernel = await meetings.observer();
    const erase = () => createEraseMeetings(kernel)(roomId, () => kernel.systemContext('operator'));
    expect(await erase(), 'while the meeting is running').to.deep.equal([]);
    await attendance(roomId, creatorToken).thenAnswered(200);
    await meetings.act(leave(roomId, 'ada', 20), end(roomId));
    expect(await erase()).to.have.length(1);
    expect(await erase()).to.deep.equal([]);
    await attendance(roomId, creatorToken).thenRefused(404);
    const remaining = await kernel.log.read(roomStream(roomId));
    expect(typeof remaining === 'string' ? remaining : remaining.map(({ type }) => type)).to.deep.equal([
      'MeetingErased',
    ]);
    const again = await create({ roomId });
    await meetings.act(join(roomId, 'bob', 30));
    await attendance(roomId, creatorToken).thenRefused(401);
    const { body } = await attendance(roomId, again.creatorToken).thenAnswered(200);
    expect(body.participants).to.have.length(1);
  });
});

describe('attendance of a meeting on another node', function () {
  this.timeout(60_000);
  const meetings = useMeeting({}, 2);

  it('is consistent with the log immediately', async () => {
    const [one = '', other = ''] = meetings.bases;
    const { body } = await ask(one, 'POST', '/api/rooms', { body: {} });
    const path = `/api/rooms/${body.roomId}/attendance`;
    const { status } = await ask(other, 'GET', path, { token: body.creatorToken });
    expect(status).to.equal(200);
  });
});
