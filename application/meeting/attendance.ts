/** Who was in a meeting, from when to when: read from the log for whoever holds its creator token. */
import { LRUCache } from 'lru-cache';
import { catalog, NAMELESS, type RoomEvent } from '../../domain/meeting/catalog.js';
import { roomNotFound } from '../../domain/meeting/join.js';
import { MAX_DEPARTED, roomStream } from '../../domain/meeting/state.js';
import { type EventHandlers, handlerFor, type Rejection, sameText } from '../../domain/shared/index.js';
import { type AggregateStore, asEvent, isEvent, readForward } from '../command/index.js';
import { createFairSemaphore } from '../concurrency/index.js';
import type { DecryptEvent, EventLog, Position, RecordedEvent, RevealedEvent } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';
import { creatorHash } from './tokens.js';

export interface AttendancePorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly streams: Pick<AggregateStore, 'reload'>;
  readonly reveal: DecryptEvent;
}

/** The log, read in turn with all others. */
type ThrottledLog = Pick<EventLog, 'read'>;

/** One stay of one person. Times are Unix ms. */
export interface Visit {
  readonly participantId: string;
  readonly name: string;
  readonly joinedAt: number;
  /** Not there while they are. */
  readonly leftAt?: number;
}

export interface AttendanceReport {
  readonly roomId: string;
  readonly title?: string;
  readonly openedAt: number;
  /** By pages: those who have left in the order in which they did, then those who are there, in that of joining. */
  visits(): AsyncGenerator<readonly Visit[]>;
  readonly position: Position;
}

/** The token is missing, or of no meeting in this room that can still be read. */
const unauthorized: Rejection = { rejected: 'meeting/unauthorized', kind: 'unauthenticated' };

/** What tells who came, and who went. */
type AttendanceEvent = RoomEvent<
  | 'ParticipantJoined'
  | 'EntryRequested'
  | 'EntryGranted'
  | 'EntryRefused'
  | 'EntryWithdrawn'
  | 'ParticipantLeft'
  | 'ParticipantRejoined'
  | 'ParticipantKicked'
>;

/** Who asks for so many at a time has all of them read, and the next refused. */
export const MAX_ATTENDANCES = 60;
/** Pages that are read at a time: many long meetings at once would keep the log from whoever comes or speaks. */
const CONCURRENT_READS = 2;

export function createAttendance({ log, streams, reveal }: AttendancePorts) {
  const readSlots = createFairSemaphore('an attendance', CONCURRENT_READS, MAX_ATTENDANCES);

  /**
   * Of a room whose id was used several times, only the meeting that the token was made for. It is read a page at a
   * time, by turns of those it is read for (`whose`). Rejects with `Unavailable`.
   */
  return async function attendance(
    roomId: string,
    token: string | undefined,
    network: string,
  ): Promise<AttendanceReport | Rejection> {
    const read: EventLog['read'] = (...args) => readSlots(() => log.read(...args), network);
    const stream = roomStream(roomId);
    const { state, revision, position } = await streams.reload(roomAggregate, stream);
    const readableMeetings = state.isOpen ? [...state.readable, state] : state.readable;
    if (revision < 0 || readableMeetings.length === 0) return roomNotFound;
    // Before anything is read: whoever guesses has nothing done for them.
    const tokenHash = token === undefined ? undefined : creatorHash(token);
    const meeting = readableMeetings.find(
      (each) => each.creatorHash && tokenHash && sameText(each.creatorHash, tokenHash),
    );
    const opening = meeting && (await openingEventOf({ read }, stream, meeting.meetingId));
    if (!opening) return unauthorized;
    const opened = await reveal(catalog, opening);
    const { openedAt, secret } = opened.data;
    const title = 'title' in secret ? secret.title : undefined;
    const visits = () => visitsOf({ read }, stream, opened.revision + 1, opened.data.meetingId);
    return { roomId, ...(title !== undefined && { title }), openedAt, visits, position };
  };

  async function openingEventOf(throttledLog: ThrottledLog, stream: string, meetingId: string) {
    for await (const page of readForward(throttledLog, stream)) {
      for (const event of page) {
        if (event.type !== 'RoomOpened') continue;
        const opened = asEvent<RoomEvent<'RoomOpened'>>(event);
        if (opened.data.meetingId === meetingId) return opened;
      }
    }
    return undefined;
  }

  /** Never more in memory than are in the meeting, or wait for it, at a time; and a page of the stream. */
  async function* visitsOf(
    throttledLog: ThrottledLog,
    stream: string,
    from: number,
    meetingId: string,
  ): AsyncGenerator<readonly Visit[]> {
    const tracker = createVisitTracker();
    for await (const page of readForward(throttledLog, stream, from)) {
      const meetingEvents = page
        .filter(({ type }) => Object.hasOwn(tracker.on, type))
        .map((event) => asEvent<AttendanceEvent>(event))
        .filter(({ data }) => data.meetingId === meetingId);
      // Keys come from another server: they are asked for together.
      for (const event of await Promise.all(meetingEvents.map((each) => reveal(catalog, each))))
        handlerFor(tracker.on, event)?.(event);
      yield tracker.takeFinished();
      if (page.some((event) => isMeetingEnd(meetingId, event))) break;
    }
    yield tracker.current();
  }
}

/** People as they come and go. */
function createVisitTracker() {
  const present = new Map<string, Visit>();
  const waiting = new Map<string, string>();
  /** Names of those who left last, and may come back. */
  const departed = new LRUCache<string, string>({ max: MAX_DEPARTED });
  let finished: Visit[] = [];

  const addVisit = (participantId: string, name: string, joinedAt: number) =>
    void present.set(participantId, { participantId, name, joinedAt });

  function finishVisit(participantId: string, leftAt: number) {
    const visit = present.get(participantId);
    if (!visit) return;
    finished.push({ ...visit, leftAt });
    departed.set(participantId, visit.name);
    present.delete(participantId);
  }

  const on: EventHandlers<RevealedEvent<AttendanceEvent>, void> = {
    ParticipantJoined: ({ data }) => addVisit(data.participantId, data.secret.name, data.joinedAt),
    EntryRequested: ({ data }) => void waiting.set(data.participantId, data.secret.name),
    EntryGranted({ data: { participantId, grantedAt } }) {
      addVisit(participantId, waiting.get(participantId) ?? NAMELESS, grantedAt);
      waiting.delete(participantId);
    },
    EntryRefused: ({ data }) => void waiting.delete(data.participantId),
    EntryWithdrawn: ({ data }) => void waiting.delete(data.participantId),
    ParticipantRejoined: ({ data: { participantId, rejoinedAt } }) =>
      addVisit(participantId, departed.get(participantId) ?? NAMELESS, rejoinedAt),
    ParticipantLeft: ({ data }) => finishVisit(data.participantId, data.leftAt),
    ParticipantKicked: ({ data }) => finishVisit(data.participantId, data.kickedAt),
  };

  return {
    on,
    /** Those that are over since it was asked last. */
    takeFinished(): readonly Visit[] {
      const takeFinished = finished;
      finished = [];
      return takeFinished;
    },
    current: (): readonly Visit[] => [...present.values()],
  };
}

const isMeetingEnd = (meetingId: string, event: RecordedEvent): boolean =>
  isEvent<RoomEvent<'RoomEnded'>>('RoomEnded', event) && event.data.meetingId === meetingId;

export type Attendance = ReturnType<typeof createAttendance>;
