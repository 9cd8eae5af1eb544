/** Erasing meetings that are over: the fact, the key of who was there and what was said, then what the log need not keep. */
import { meetingSubject, type RoomEvent } from '../../domain/meeting/catalog.js';
import { type RoomState, roomStream } from '../../domain/meeting/state.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import { type AggregateStore, asEvent, type HandleCommand, readForward } from '../command/index.js';
import type { Clock, CommandContext, EventLog, Vault } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import { roomAggregate } from './aggregates.js';

export interface ErasurePorts {
  readonly handle: HandleCommand;
  readonly streams: Pick<AggregateStore, 'reload'>;
  readonly log: Pick<EventLog, 'read' | 'retain'>;
  readonly vault: Pick<Vault, 'destroy'>;
  readonly clock: Clock;
}

/** Each step does no harm when done again. */
async function eraseMeetingData(ports: ErasurePorts, roomId: string, meetingId: string): Promise<void> {
  await ports.vault.destroy(meetingSubject({ meetingId }));
  await truncate(ports, roomId);
}

/**
 * Lets go of the meetings at the beginning of a room's stream of which nobody can read anything. The stream goes on
 * where it was, so that its id can be used again: of a room that is over and erased, its last event is kept.
 */
async function truncate({ streams, log }: ErasurePorts, roomId: string): Promise<void> {
  const stream = roomStream(roomId);
  const { state, revision } = await streams.reload(roomAggregate, stream);
  const readableIds = new Set(readableMeetingIds(state));
  const opensReadable = (event: Parameters<typeof asEvent>[0]) =>
    event.type === 'RoomOpened' && readableIds.has(asEvent<RoomEvent<'RoomOpened'>>(event).data.meetingId);
  let truncateBefore = revision;
  if (readableIds.size > 0) {
    for await (const page of readForward(log, stream)) {
      const first = page.find(opensReadable);
      if (!first) continue;
      truncateBefore = first.revision;
      break;
    }
  }
  if (truncateBefore > 0) await log.retain(stream, { truncateBefore });
}

/** Those that are over, and the one that is. */
const readableMeetingIds = ({ isOpen, meetingId, readable }: RoomState): readonly string[] => {
  const ended = readable.map((each) => each.meetingId);
  return isOpen ? [...ended, meetingId] : ended;
};

/** Every meeting of a room that is over, whole, with or without a node that runs. Gives how many there were. */
export const createEraseMeetings =
  (ports: ErasurePorts) =>
  async (roomId: string, context: () => CommandContext): Promise<number | Rejection> => {
    const { handle, streams, clock } = ports;
    const { state } = await streams.reload(roomAggregate, roomStream(roomId));
    for (const { meetingId } of state.readable) {
      const command = { type: 'EraseMeeting' as const, roomId, meetingId, now: clock.now() };
      const outcome = await handle(roomAggregate, roomStream(roomId), command, context());
      if (isRejection(outcome)) return outcome;
      await eraseMeetingData(ports, roomId, meetingId);
    }
    return state.readable.length;
  };

type MeetingErased = RoomEvent<'MeetingErased'>;

/** Goes on where whoever erased was stopped. */
export const erasureReaction = (ports: ErasurePorts): Reaction<MeetingErased> => ({
  name: 'meeting.erasure',
  retryInBackground: true,
  on: { MeetingErased: ({ data }) => eraseMeetingData(ports, data.roomId, data.meetingId) },
});
