/** Attendance report: reads the visits of a meeting from the log; requires the creator token. */
import { LRUCache } from 'lru-cache';
import { catalog, NAMELESS, type RoomEvent } from '../../domain/meeting/catalog.js';
import { roomNotFound } from '../../domain/meeting/join.js';
import { MAX_DEPARTED, roomStream } from '../../domain/meeting/state.js';
import { type EventHandlers, handlerFor, type Rejection, sameText } from '../../domain/shared/index.js';
import { type AggregateStore, asEvent, isEvent, readForward } from '../command/index.js';
import { createFairSemaphore } from '../concurrency/index.js';
import type { DecryptEvent, EventLog, RecordedEvent, RevealedEvent } from '../ports/index.js';
import { roomAggregate } from './aggregates.js';
import { creatorHash } from './tokens.js';

export interface AttendancePorts {
  readonly log: Pick<EventLog, 'read'>;
  readonly aggregates: Pick<AggregateStore, 'reload'>;
  readonly decryptEvent: DecryptEvent;
}

/** Event log with limited concurrent reads. */
type ThrottledLog = Pick<EventLog, 'read'>;

/** One visit of one person. Times are Unix ms. */
export interface Visit {
  readonly participantId: string;
  readonly name: string;
  readonly joinedAt: number;
  /** Absent while the person is in the meeting. */
  readonly leftAt?: number;
}

/** The token is missing, or belongs to no readable meeting of this room. */
const unauthorized: Rejection = { rejected: 'meeting/unauthorized', kind: 'unauthenticated' };

/** Events that start or end a visit. */
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

/** Concurrent reports; further requests are rejected. */
export const MAX_ATTENDANCES = 60;
/** Concurrent page reads. More would slow down joins and chat, which use the same log. */
const CONCURRENT_READS = 2;

export function createAttendance({ log, aggregates, decryptEvent }: AttendancePorts) {
  const readSlots = createFairSemaphore('attendance reports', CONCURRENT_READS, MAX_ATTENDANCES);

  /**
   * Returns the report of the meeting the token was created for; a room id may have been used by several meetings.
   * Pages are read in turn with those of other networks. Throws `UnavailableError`.
   */
  return async function attendance(roomId: string, token: string | undefined, network: string) {
    const read: EventLog['read'] = (...args) => readSlots(() => log.read(...args), network);
    const stream = roomStream(roomId);
    const { state, revision, position } = await aggregates.reload(roomAggregate, stream);
    const readableMeetings = state.isOpen ? [...state.readable, state] : state.readable;
    if (revision < 0 || readableMeetings.length === 0) return roomNotFound;
    // Check the token first: a wrong one must not cause reads.
    const tokenHash = token === undefined ? undefined : creatorHash(token);
    const meeting = readableMeetings.find(
      (each) => each.creatorHash && tokenHash && sameText(each.creatorHash, tokenHash),
    );
    const opening = meeting && (await openingEventOf({ read }, stream, meeting.meetingId));
    if (!opening) return unauthorized;
    const opened = await decryptEvent(catalog, opening);
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

  /**
   * Yields pages: finished visits by time of leaving, then current visits by time of joining. Holds one page of the stream
   * and the people present or waiting in memory, never the whole meeting.
   */
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
      // Keys come from another server; requesting them together lets the store batch them.
      for (const event of await Promise.all(meetingEvents.map((each) => decryptEvent(catalog, each))))
        handlerFor(tracker.on, event)?.(event);
      yield tracker.takeFinished();
      if (page.some((event) => isMeetingEnd(meetingId, event))) break;
    }
    yield tracker.current();
  }
}

/** Tracks visits by folding join and leave events. */
function createVisitTracker() {
  const present = new Map<string, Visit>();
  const waiting = new Map<string, string>();
  /** Names of the last people who left; they may rejoin. */
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
    /** Returns the visits finished since the last call. */
    takeFinished(): readonly Visit[] {
      const visits = finished;
      finished = [];
      return visits;
    },
    current: (): readonly Visit[] => [...present.values()],
  };
}

const isMeetingEnd = (meetingId: string, event: RecordedEvent): boolean =>
  isEvent<RoomEvent<'RoomEnded'>>('RoomEnded', event) && event.data.meetingId === meetingId;

export type Attendance = ReturnType<typeof createAttendance>;
