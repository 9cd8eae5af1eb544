/** Expired rooms are ended and old meetings erased, even if the stream of one room is corrupt. */
import { expect } from 'chai';
import { roomAggregate } from '../../../application/meeting/aggregates.js';
import { BATCH_SIZE, createMeetingRetention, createRoomSweep } from '../../../application/meeting/end-expired-rooms.js';
import { CorruptEventError, type RowQuery, type Rows } from '../../../application/ports/index.js';
import { catalog, meetingSubject } from '../../../domain/meeting/catalog.js';
import { roomStream } from '../../../domain/meeting/state.js';
import { DAY, NOON, openRoom } from '../../support/meeting-fixtures.js';
import { commandsOf, memoryKernel, memoryWorld } from '../../support/memory-kernel.js';

/** More rooms than one batch handles. */
const ROOMS = Array.from({ length: BATCH_SIZE + 2 }, (_, index) => `ROOM${index}`);
const BAD = roomStream(ROOMS[0]!);
const LATER = NOON + 40 * DAY;

/** Rooms created long ago without participants; the stream of the first is corrupt. */
async function roomsWithCorruptStream() {
  const kernel = memoryKernel(memoryWorld(), [catalog]);
  for (const roomId of ROOMS) {
    const open = openRoom({ roomId, meetingId: `of-${roomId}` });
    await kernel.vault.create(meetingSubject(open));
    await kernel.handle(roomAggregate, roomStream(roomId), open, kernel.systemContext('test'));
  }
  const open = new Map(
    await Promise.all(
      ROOMS.map(async (id) => [id, (await kernel.aggregates.load(roomAggregate, roomStream(id))).state] as const),
    ),
  );
  const log: typeof kernel.log = {
    ...kernel.log,
    append: (stream, ...rest) =>
      stream === BAD ? Promise.reject(new CorruptEventError('the log is damaged')) : kernel.log.append(stream, ...rest),
  };
  const clock = { now: () => LATER, confirmedNow: async () => LATER, inSync: () => true };
  const { handle } = commandsOf({ ...kernel, log, clock });
  const ports = { handle, clock, context: kernel.systemContext };
  const { signal } = new AbortController();
  const ended = ROOMS.map((roomId, index) => ({ _id: `of-${roomId}`, roomId, endedAt: NOON + index }));
  const rows: Rows = {
    async find<Row>(_: string, { filter, limit }: RowQuery) {
      const { $gte, $lte } = filter.endedAt as { $gte: number; $lte: number };
      return ended.filter(({ endedAt }) => endedAt >= $gte && endedAt <= $lte).slice(0, limit) as Row[];
    },
  };
  const typesOf = async (roomId: string) => {
    const events = await kernel.log.read(roomStream(roomId));
    return typeof events === 'string' ? events : events.map(({ type }) => type).join();
  };
  return {
    end: () => createRoomSweep({ ...ports, rooms: () => open })(signal),
    /** Runs retention that many milliseconds after `LATER`. */
    erase: (afterMs = 0) => {
      const now = LATER + afterMs;
      const confirmedClock = { ...clock, now: () => now, confirmedNow: async () => now };
      return createMeetingRetention({ ...ports, clock: confirmedClock, rows, days: 30 })(signal);
    },
    happened: () => Promise.all(ROOMS.map(typesOf)),
    endAll: async () => {
      for (const roomId of ROOMS) {
        const command = { type: 'EndRoom', roomId, now: LATER } as const;
        await kernel.handle(roomAggregate, roomStream(roomId), command, kernel.systemContext('test'));
      }
    },
  };
}

describe('scheduled jobs of meetings', () => {
  it('end expired rooms even if one is corrupt, and report it', async () => {
    const { end, happened } = await roomsWithCorruptStream();
    expect(await end().catch((error) => error)).to.be.instanceOf(CorruptEventError);
    const [damaged, ...others] = await happened();
    expect(damaged).to.equal('RoomOpened');
    expect(new Set(others)).to.deep.equal(new Set(['RoomOpened,RoomEnded']));
  });

  it('keep participants until thirty days after the end of the meeting, to the millisecond', async () => {
    const { endAll, erase, happened } = await roomsWithCorruptStream();
    await endAll();
    // The first room is corrupt; the others ended a millisecond apart.
    const erased = async (after: number) => {
      await erase(NOON + 30 * DAY - LATER + after).catch(() => {});
      return (await happened()).filter((types) => types.includes('MeetingErased')).length;
    };
    expect(await erased(0)).to.equal(0);
    expect(await erased(1)).to.equal(1);
    expect(await erased(3)).to.equal(3);
  });

  it('erase old meetings even if one is corrupt, and report it', async () => {
    const { endAll, erase, happened } = await roomsWithCorruptStream();
    await endAll();
    expect(await erase().catch((error) => error)).to.be.instanceOf(CorruptEventError);
    const [damaged, ...others] = await happened();
    expect(damaged).to.equal('RoomOpened,RoomEnded');
    expect(new Set(others)).to.deep.equal(new Set(['RoomOpened,RoomEnded,MeetingErased']));
  });
});
