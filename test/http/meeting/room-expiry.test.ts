/** Expiry of rooms and old meetings, on nodes as the program runs them. */
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { meetingSubject } from '../../../domain/meeting/catalog.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { ask } from '../../support/http-spec.js';
import { DAY, joinRoom, leaveRoom, openRoom } from '../../support/meeting-fixtures.js';
import { useMeeting } from '../../support/meeting-node.js';

describe('expiry of meeting rooms', function () {
  this.timeout(120_000);
  const meetings = useMeeting({ '--meeting-attendance-days': '7' }, 0);
  const now = Date.now();

  const open = async (roomId: string, at: number, more = {}) => {
    const { vault } = await meetings.observer();
    const meetingId = `meeting of ${roomId}`;
    await vault.create(meetingSubject({ meetingId }));
    await meetings.act(openRoom({ roomId, meetingId, title: 'Plans', now: now + at, ...more }));
  };
  const joinAt = (roomId: string, who: string, at: number) => ({ ...joinRoom(who), roomId, now: now + at });
  const leaveAt = (roomId: string, who: string, at: number) => ({ ...leaveRoom(who), roomId, now: now + at });
  const end = (roomId: string, at: number) => ({ type: 'EndRoom' as const, roomId, now: now + at });
  const types = async (roomId: string) => {
    const events = await (await meetings.observer()).log.read(roomStream(roomId));
    return typeof events === 'string' ? [events] : events.map(({ type }) => type);
  };
  const total = async () => (await ask(meetings.base, 'GET', '/health')).body.totalRooms;

  it('ends a room a day after it was created, was scheduled to end or was left, and never while occupied', async () => {
    await open('OLDONE', -2 * DAY);
    await open('SOON22', -2 * DAY, { scheduledEnd: now - DAY / 2 });
    await open('LEFT22', -9 * DAY);
    await meetings.act(joinAt('LEFT22', 'ada', -9 * DAY), leaveAt('LEFT22', 'ada', -DAY / 2));
    await open('THERE2', -9 * DAY);
    await meetings.act(joinAt('THERE2', 'ada', -9 * DAY));
    await meetings.start();
    await eventually(async () => (await types('OLDONE')).includes('RoomEnded'));
    await eventually(async () => (await total()) === 3);
    for (const roomId of ['SOON22', 'LEFT22', 'THERE2'])
      expect(await types(roomId), roomId).not.to.include('RoomEnded');
    const again = await ask(meetings.base, 'POST', '/api/rooms', { body: { roomId: 'OLDONE' } });
    expect(again.status).to.equal(201);
    expect((await ask(meetings.base, 'POST', '/api/rooms', { body: { roomId: 'SOON22' } })).status).to.equal(429);
  });

  it('frees the room id as soon as the time has passed', async () => {
    await open('LATE22', -2 * DAY);
    const { status } = await ask(meetings.base, 'POST', '/api/rooms', { body: { roomId: 'LATE22' } });
    expect(status).to.equal(201);
  });

  it('erases old meetings: the key is destroyed and the events are deleted', async () => {
    await open('FORGET', -20 * DAY);
    await meetings.act(
      joinAt('FORGET', 'ada', -20 * DAY),
      leaveAt('FORGET', 'ada', -19 * DAY),
      end('FORGET', -10 * DAY),
    );
    await open('KEEP22', -20 * DAY);
    await meetings.act(joinAt('KEEP22', 'bob', -20 * DAY), leaveAt('KEEP22', 'bob', -8 * DAY), end('KEEP22', -5 * DAY));
    // The check at startup uses the read model that the previous node wrote.
    const kernel = await meetings.observer();
    await eventually(async () => (await endedIn(kernel)).length >= 2);
    await meetings.stop(0);
    await meetings.start();
    await eventually(async () => String(await types('FORGET')) === 'MeetingErased');
    const subject = meetingSubject({ meetingId: 'meeting of FORGET' });
    expect(await kernel.keys.read(subject)).to.equal('destroyed');
    await eventually(async () => !(await endedIn(kernel)).some(({ roomId }) => roomId === 'FORGET'));
    const recentTypes = await types('KEEP22');
    expect(recentTypes).to.include.members(['RoomOpened', 'ParticipantJoined', 'RoomEnded']);
    expect(recentTypes).not.to.include('MeetingErased');
  });

  /** Ended meetings in the read model of a node. */
  async function endedIn(kernel: Awaited<ReturnType<typeof meetings.observer>>) {
    const { models } = kernel.mongo;
    const found = await models.listCollections().toArray();
    const name = found.map((each) => each.name).find((each) => each.startsWith('meeting_ended'));
    if (!name) return [];
    const rows = await models.collection<{ roomId?: string; gone?: boolean; _id: string }>(name).find().toArray();
    return rows.filter(({ gone }) => !gone);
  }
});
