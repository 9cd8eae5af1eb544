/** A meeting room at its event limit: rejected changes, and leaving. */
import { randomUUID } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { newEvent } from '../../../application/command/event-envelope.js';
import { roomAggregate } from '../../../application/meeting/aggregates.js';
import type { RoomEvent } from '../../../domain/meeting/catalog.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { enterRoom, peopleAt } from '../../support/meeting-client.js';
import { useMeeting } from '../../support/meeting-node.js';

const ROOM = 'LENGTH';
const BATCH = 500;

describe('meeting room with 20,000 events', function () {
  this.timeout(120_000);
  const meetings = useMeeting();

  /** Appends events as another node would. */
  async function fill(participantId: string, count: number) {
    const { log, aggregates, systemContext } = await meetings.observer();
    const stream = roomStream(ROOM);
    let { revision, state } = await aggregates.reload(roomAggregate, stream);
    const data = { roomId: ROOM, meetingId: state.meetingId, participantId, raisedAt: Date.now() };
    const raised: RoomEvent = { type: 'HandRaised', data };
    const origin = { service: 'meeting', release: 'test' };
    while (revision + 1 < count) {
      const context = { ...systemContext('test'), commandId: randomUUID() };
      const events = Array.from({ length: Math.min(BATCH, count - revision - 1) }, (_, index) =>
        newEvent(origin, stream, raised, index, context),
      );
      const outcome = await log.append(stream, revision, events);
      if (outcome.outcome !== 'appended') throw new Error(outcome.outcome);
      ({ revision } = outcome);
    }
  }

  it('rejects state changes, cached or not, and still allows joining and leaving', async () => {
    const ada = await enterRoom(meetings.base, ROOM, 'Ada', { isHost: true });
    await fill(ada.id, 20_000);
    const other = await meetings.start();
    const bob = await enterRoom(other, ROOM, 'Bob');
    for (const each of [ada, bob]) {
      each.send('participant-updated', { isMuted: true });
      const refused = await each.waitFor(({ code }) => code === 'INVALID_MESSAGE');
      expect(refused).to.include({ type: 'error', roomId: ROOM, participantId: each.id });
      expect(refused.message).to.match(/event limit/);
    }
    ada.send('moderator-action', { targetId: bob.id, action: 'kick' });
    expect((await bob.closed).code).to.equal(4003);
    ada.send('leave');
    await eventually(async () => (await peopleAt(other)) === 0);
    ada.socket.terminate();
  });
});
