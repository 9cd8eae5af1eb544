/** Whose connection is gone leaves the room, also where the log does not answer at first. */
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

describe('somebody whose connection is gone', () => {
  /** A room with ada and bob in it, and how bob leaves when the first attempt ends like this. */
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
    const told: string[] = [];
    const tell = (level: string) => () => void told.push(level);
    const logger = { debug() {}, info() {}, warn: tell('warn'), error: tell('error') };
    const inside = createParticipantActions({ handle, clock, logger, signal: new AbortController().signal });
    return {
      told,
      depart: () =>
        inside.leaveWhenDisconnected({ roomId, participantId: 'bob', seat: { id: 'seat-of-bob' } }, () => context()),
      people: async () => (await kernel.streams.load(roomAggregate, stream)).state.people.map(({ id }) => id),
    };
  }

  it('leaves once the log answers again, which is warned of', async () => {
    const { depart, people, told } = await roomWhere(new UnavailableError('for a moment'));
    await depart();
    expect([await people(), told]).to.deep.equal([['ada'], ['warn']]);
  });

  it('is told of as an error where trying again would be of no use, and is not tried for ever', async () => {
    const { depart, people, told } = await roomWhere(new Error('a fault of the program'));
    await depart();
    expect([await people(), told]).to.deep.equal([['ada', 'bob'], ['error']]);
  });
});
