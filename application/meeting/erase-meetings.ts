/** Erases ended meetings: records the erasure, destroys the encryption key, truncates the stream. */

import { meetingSubject, type RoomEvent } from '../../domain/meeting/catalog.js';
import { type RoomState, roomStream } from '../../domain/meeting/state.js';
import { isRejection, type Rejection } from '../../domain/shared/index.js';
import { type AggregateStore, asEvent, type KernelPorts, readForward } from '../command/index.js';
import type { CommandContext, EventLog, Position, Vault } from '../ports/index.js';
import type { Reaction } from '../subscription/index.js';
import { roomAggregate } from './aggregates.js';

export interface ErasurePorts extends Pick<KernelPorts, 'handle' | 'clock'> {
  readonly aggregates: Pick<AggregateStore, 'reload'>;
  readonly log: Pick<EventLog, 'read' | 'retain'>;
  readonly vault: Pick<Vault, 'destroy'>;
}

/** Idempotent: each step may be repeated. */
async function eraseMeetingData(ports: ErasurePorts, roomId: string, meetingId: string): Promise<void> {
  await ports.vault.destroy(meetingSubject({ meetingId }));
  await truncate(ports, roomId);
}

/**
 * Truncates erased meetings from the start of a room's stream. If none is readable, the last event stays, so that
 * the stream's revision continues when the room id is used again.
 */
async function truncate({ aggregates, log }: ErasurePorts, roomId: string): Promise<void> {
  const stream = roomStream(roomId);
  const { state, revision } = await aggregates.reload(roomAggregate, stream);
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

/** Returns the ended meetings and the current one. */
const readableMeetingIds = ({ isOpen, meetingId, readable }: RoomState): readonly string[] => {
  const ended = readable.map((each) => each.meetingId);
  return isOpen ? [...ended, meetingId] : ended;
};

/** Positions of the erasures of a room that its stream still has. */
export async function erasuresOf({ log }: Pick<ErasurePorts, 'log'>, roomId: string): Promise<readonly Position[]> {
  const positions: Position[] = [];
  for await (const page of readForward(log, roomStream(roomId)))
    positions.push(...page.filter(({ type }) => type === 'MeetingErased').map(({ position }) => position));
  return positions;
}

/** Erases every ended meeting of a room, without a running node if need be. Returns the position of each erasure. */
export const createEraseMeetings =
  (ports: ErasurePorts) =>
  async (roomId: string, context: () => CommandContext): Promise<readonly Position[] | Rejection> => {
    const { handle, aggregates, clock } = ports;
    const { state } = await aggregates.reload(roomAggregate, roomStream(roomId));
    const positions: Position[] = [];
    for (const { meetingId } of state.readable) {
      const command = { type: 'EraseMeeting' as const, roomId, meetingId, now: clock.now() };
      const outcome = await handle(roomAggregate, roomStream(roomId), command, context());
      if (isRejection(outcome)) return outcome;
      await eraseMeetingData(ports, roomId, meetingId);
      if (outcome.events.length > 0) positions.push(outcome.position);
    }
    return positions;
  };

type MeetingErased = RoomEvent<'MeetingErased'>;

/** Completes erasures that were interrupted after the event was written. */
export const erasureReaction = (ports: ErasurePorts): Reaction<MeetingErased> => ({
  name: 'meeting.erasure',
  retryInBackground: true,
  on: { MeetingErased: ({ data }) => eraseMeetingData(ports, data.roomId, data.meetingId) },
});
