/** A disconnected participant leaves the room, even if the log is unavailable at first. */
import { expect } from 'chai';
import type { HandleCommand } from '../../../application/command/handle-command.js';
import { roomAggregate } from '../../../application/meeting/aggregates.js';
import { createParticipantActions } from '../../../application/meeting/participant-actions.js';
import { UnavailableError } from '../../../application/ports/index.js';
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { fakeClock } from '../../support/fake-clock.js';
import { joinRoom, meetingId, openRoom, roomId } from '../../support/meeting-fixtures.js';
import { memoryKernel, memoryWorld } from '../../support/memory-kernel.js';
import { context } from '../../support/toy-service.js';

describe('a disconnected participant', () => {
  /** A room with Ada and Bob, in which the first attempt of Bob to leave fails with the given error. */
  async function roomWhere(first: Error) {
    const clock = fakeClock();
    const kernel = memoryKernel(memoryWorld(), [catalog], clock);
    await kernel.vault.create(meetingSubject({ meetingId }));
    const stream = roomStream(roomId);
    for (const command of [openRoom(), joinRoom('ada'), joinRoom('bob')])
      await kernel.handle(roomAggregate, stream, command, context());
    let attempts = 0;
    const handle: HandleCommand = async (...args) => {
      if (attempts++ === 0) throw first;
      return kernel.handle(...args);
    };
    const levels: string[] = [];
    const logLevel = (level: string) => () => void levels.push(level);
    const logger = { debug() {}, info() {}, warn: logLevel('warn'), error: logLevel('error') };
    const inside = createParticipantActions({ handle, clock, logger, signal: new AbortController().signal });
    return {
      levels,
      depart: () =>
        inside.leaveWhenDisconnected({ roomId, participantId: 'bob', seat: { id: 'seat-of-bob' } }, () => context()),
      people: async () => (await kernel.aggregates.load(roomAggregate, stream)).state.people.map(({ id }) => id),
    };
  }

  it('leaves once the log is available again, with a warning', async () => {
    const { depart, people, levels } = await roomWhere(new UnavailableError('for a moment'));
    await depart();
    expect([await people(), levels]).to.deep.equal([['ada'], ['warn']]);
  });

  it('does not retry an unexpected error, which is logged', async () => {
    const { depart, people, levels } = await roomWhere(new Error('a fault of the program'));
    await depart();
    expect([await people(), levels]).to.deep.equal([['ada', 'bob'], ['error']]);
  });
});
