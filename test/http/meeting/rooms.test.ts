/** Creating meeting rooms over HTTP: options, answers and rejections. */
import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import { ask } from '../../support/http-spec.js';
import { useMeeting } from '../../support/meeting-node.js';

const ROOM_ID = /^[A-HJKMNP-Z2-9]{6}$/;
const DAY = 86_400_000;

describe('creating a meeting room', function () {
  this.timeout(60_000);
  const meetings = useMeeting();
  const { given, when } = meetings;
  const create = (body?: unknown, headers = {}) => when('POST', '/api/rooms', { body, headers });
  /** An id that no other test uses. */
  const freeId = () => randomUUID().slice(0, 6).toUpperCase();

  it('answers an unambiguous id and a creator token, and no options that were not given', async () => {
    for (const body of [{}, '', undefined]) {
      const { body: made } = await create(body).thenAnswered(201);
      expect(made).to.have.all.keys('roomId', 'creatorToken');
      expect(made.roomId).to.match(ROOM_ID);
      expect(made.creatorToken).to.match(/^[\w-]{43}$/);
    }
  });

  it('normalises its options, and returns neither password nor limit', async () => {
    const roomId = freeId();
    const start = 1_900_000_000_000;
    const { body } = await create({
      roomId: ` ${roomId.toLowerCase()} `,
      password: '  open sesame  ',
      maxParticipants: 2,
      title: '  Monday  ',
      scheduledStart: start,
      scheduledEnd: new Date(start + DAY).toISOString(),
      unknown: 'ignored',
    }).thenAnswered(201, { roomId, title: 'Monday', scheduledStart: start, scheduledEnd: start + DAY });
    expect(body).to.have.all.keys('roomId', 'creatorToken', 'title', 'scheduledStart', 'scheduledEnd');
  });

  it('ignores a blank title, and trims others, up to 80 characters', async () => {
    const plain = ['roomId', 'creatorToken'];
    for (const title of ['', ' \t '])
      expect((await create({ title }).thenAnswered(201)).body).to.have.all.keys(...plain);
    await create({ title: ` ${'t'.repeat(80)} ` }).thenAnswered(201, { title: 't'.repeat(80) });
  });

  it('reads ISO dates of every precision, as UTC without a zone', async () => {
    const read = async (scheduledStart: string) =>
      (await create({ scheduledStart }).thenAnswered(201)).body.scheduledStart;
    expect(await read('2031-02-03')).to.equal(Date.UTC(2031, 1, 3));
    expect(await read('2031-02-03T04:05')).to.equal(Date.UTC(2031, 1, 3, 4, 5));
    expect(await read('2031-02-03T04:05:06.789Z')).to.equal(Date.UTC(2031, 1, 3, 4, 5, 6, 789));
    expect(await read('2031-02-03T04:05:06+02:00')).to.equal(Date.UTC(2031, 1, 3, 2, 5, 6));
  });

  const wrong: readonly (readonly [body: unknown, error: RegExp])[] = [
    [{ roomId: 'ABC12' }, /Room id/],
    [{ roomId: 'ABC1234' }, /Room id/],
    [{ roomId: 'ABC-12' }, /Room id/],
    [{ roomId: '' }, /Room id/],
    [{ roomId: 123456 }, /Room id/],
    [{ roomId: null }, /Room id/],
    [{ roomId: 'ÀBC123' }, /Room id/],
    [{ password: '   ' }, /Password/],
    [{ password: 'p'.repeat(51) }, /Password/],
    [{ password: 7 }, /Password/],
    [{ maxParticipants: 1 }, /Max participants/],
    [{ maxParticipants: 51 }, /Max participants/],
    [{ maxParticipants: 2.5 }, /Max participants/],
    [{ maxParticipants: '8' }, /Max participants/],
    [{ title: 't'.repeat(81) }, /Title/],
    [{ title: {} }, /Title/],
    [{ scheduledStart: 'tomorrow' }, /Scheduled start/],
    [{ scheduledStart: '2031-02-30' }, /Scheduled start/],
    [{ scheduledStart: '2031-02-03T25:00' }, /Scheduled start/],
    [{ scheduledStart: -1 }, /Scheduled start/],
    [{ scheduledStart: 1.5 }, /Scheduled start/],
    [{ scheduledEnd: true }, /Scheduled end/],
    [{ scheduledEnd: 8_640_000_000_000_001 }, /Scheduled end/],
    [{ scheduledStart: 2_000, scheduledEnd: 2_000 }, /Scheduled end must be after/],
    [{ scheduledStart: '2031-02-03', scheduledEnd: '2031-02-02' }, /Scheduled end must be after/],
    [[], /body/i],
    ['"text"', /body/i],
    ['{"roomId":', /./],
  ];
  for (const [body, error] of wrong)
    it(`rejects ${JSON.stringify(body).slice(0, 60)}`, () => create(body).thenRefused(400, { error }));

  it('accepts each option at its limit', async () => {
    await create({ password: 'p'.repeat(50), maxParticipants: 50, title: 't'.repeat(80) }).thenAnswered(201);
    await create({ password: ` ${'p'.repeat(50)} `, maxParticipants: 2, title: '🙂'.repeat(80) }).thenAnswered(201);
  });

  it('rejects an id that an open room has', async () => {
    const roomId = freeId();
    await create({ roomId }).thenAnswered(201);
    const { body } = await create({ roomId: roomId.toLowerCase() }).thenRefused(429, { error: /exists/ });
    expect(body).to.have.all.keys('error');
  });

  it('repeats the first answer for an idempotency key, which rejects other options', async () => {
    const body = { roomId: freeId(), password: 'secret', title: 'Once' };
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await create(body, headers).thenAnswered(201);
    const again = await create(body, headers).thenAnswered(201);
    expect(again.body).to.deep.equal(first.body);
    expect(again.headers.get('position')).to.equal(first.headers.get('position'));
    await create({ ...body, title: 'Twice' }, headers).thenRefused(422, { error: /Idempotency-Key/ });
    // A different room id would be a different stream, and is rejected too.
    await create({ roomId: freeId() }, headers).thenRefused(422, { error: /Idempotency-Key/ });
    await create({}, headers).thenRefused(422);
    const made = { 'Idempotency-Key': randomUUID() };
    expect((await create({}, made).thenAnswered(201)).body).to.deep.equal(
      (await create({}, made).thenAnswered(201)).body,
    );
    await create({ title: 'Other' }, made).thenRefused(422);
  });

  it('updates the room count immediately, and returns its position', async () => {
    const before = await given('GET', '/health');
    const { headers } = await create({}).thenAnswered(201);
    expect(headers.get('position')).to.match(/^\d+$/);
    await when('GET', '/health').thenAnswered(200, {
      totalRooms: before.totalRooms + 1,
      totalParticipants: 0,
      peakParticipants: 0,
    });
  });

  it('rejects bodies larger than a room needs', () => create('x'.repeat(70_000)).thenRefused(413));
});

describe('limit of empty meeting rooms', function () {
  this.timeout(60_000);
  const meetings = useMeeting({ '--meeting-max-latent-rooms': '3' });
  const { when } = meetings;

  it('applies to concurrent requests, and repetitions are answered', async () => {
    const keys = Array.from({ length: 6 }, () => randomUUID());
    const create = (key: string) =>
      ask(meetings.base, 'POST', '/api/rooms', { body: {}, headers: { 'Idempotency-Key': key } });
    const answers = await Promise.all(keys.map(create));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).to.have.length(3);
    for (const { status, body, headers } of answers) {
      if (status === 201) continue;
      expect(status).to.equal(429);
      expect(body.error).to.match(/limit/);
      expect(body.error).not.to.match(/exists/);
      expect(headers.get('retry-after')).to.match(/^\d+$/);
    }
    const made = statuses.indexOf(201);
    expect((await create(keys[made]!)).body).to.deep.equal(answers[made]!.body);
    await when('GET', '/health').thenAnswered(200, { totalRooms: 3 });
  });
});

describe('limit of meeting rooms per client', function () {
  this.timeout(60_000);
  const { when } = useMeeting({ '--meeting-create-per-minute': '2' });
  const create = (body: object, headers = {}) => when('POST', '/api/rooms', { body, headers });

  it('answers 429 with its own error; repetitions and rejections are free', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await create({ roomId: 'QUOTA2' }, headers).thenAnswered(201);
    for (let n = 0; n < 3; n++) await create({ roomId: 'QUOTA2' }, headers).thenAnswered(201, first.body);
    await create({ roomId: 'QUOTA2' }).thenRefused(429, { error: /exists/ });
    await create({}).thenAnswered(201);
    const { headers: answerHeaders } = await create({}).thenRefused(429, {
      error: /Too many requests, try again later/,
    });
    expect(Number(answerHeaders.get('retry-after'))).to.be.within(1, 60);
    await create({ roomId: 'QUOTA2' }, headers).thenAnswered(201, first.body);
  });
});

describe('limit of meeting rooms with passwords per client', function () {
  this.timeout(60_000);
  const { when } = useMeeting({ '--meeting-create-per-minute': '2' });
  const create = (body: object, headers = {}) =>
    when('POST', '/api/rooms', { body: { password: 'secret', ...body }, headers });

  it('limits password hashing; repetitions and rejections are free', async () => {
    const headers = { 'Idempotency-Key': randomUUID() };
    const first = await create({ roomId: 'HASHED' }, headers).thenAnswered(201);
    for (let n = 0; n < 3; n++) await create({ roomId: 'HASHED' }).thenRefused(429, { error: /exists/ });
    for (let n = 0; n < 3; n++) await create({ roomId: 'HASHED' }, headers).thenAnswered(201, first.body);
    await create({}).thenAnswered(201);
    await create({}).thenRefused(429, { error: /Too many requests/ });
    await create({ roomId: 'HASHED' }).thenRefused(429, { error: /Too many requests/ });
    await create({ roomId: 'HASHED' }, headers).thenAnswered(201, first.body);
    await create({ roomId: 'HASHED', title: 'other' }, headers).thenRefused(422);
  });
});

describe('concurrent creation of a meeting room on two nodes', function () {
  this.timeout(60_000);
  const meetings = useMeeting({}, 2);

  it('succeeds once: one node answers 201, the other 429', async () => {
    for (let round = 0; round < 5; round++) {
      const body = { roomId: `RACE0${round}` };
      const answers = await Promise.all(meetings.bases.map((base) => ask(base, 'POST', '/api/rooms', { body })));
      expect(answers.map(({ status }) => status).sort()).to.deep.equal([201, 429]);
    }
    const { headers } = await ask(meetings.base, 'GET', '/health');
    const options = { headers: { 'If-Position': headers.get('position') ?? '' } };
    for (const base of meetings.bases) expect((await ask(base, 'GET', '/health', options)).body.totalRooms).to.equal(5);
  });
});
