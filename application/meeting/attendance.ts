/** Who was in a meeting, from when to when: read from the log for whoever holds its creator token. */
import { LRUCache } from 'lru-cache';
import { catalog, NAMELESS, type RoomEvent } from '../../domain/meeting/catalog.js';
import { roomNotFound } from '../../domain/meeting/join.js';
import { MOST_DEPARTED, roomStream } from '../../domain/meeting/state.js';
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
type Paced = Pick<EventLog, 'read'>;

/** One stay of one person. Times are Unix ms. */
export interface Visit {
  readonly participantId: string;
  readonly name: string;
  readonly joinedAt: number;
  /** Not there while they are. */
  readonly leftAt?: number;
}

export interface Attended {
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
type Moving = RoomEvent<
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
export const MOST_ATTENDANCES = 60;
/** Pages that are read at a time: many long meetings at once would keep the log from whoever comes or speaks. */
const AT_ONCE = 2;

export function createAttendance({ log, streams, reveal }: AttendancePorts) {
  const inTurn = createFairSemaphore('an attendance', AT_ONCE, MOST_ATTENDANCES);

  /**
   * Of a room whose id was used several times, only the meeting that the token was made for. It is read a page at a
   * time, by turns of those it is read for (`whose`). Rejects with `Unavailable`.
   */
  return async function attendance(
    roomId: string,
    token: string | undefined,
    whose: string,
  ): Promise<Attended | Rejection> {
    const read: EventLog['read'] = (...asked) => inTurn(() => log.read(...asked), whose);
    const stream = roomStream(roomId);
    const { state, revision, position } = await streams.reload(roomAggregate, stream);
    const known = state.isOpen ? [...state.readable, state] : state.readable;
    if (revision < 0 || known.length === 0) return roomNotFound;
    // Before anything is read: whoever guesses has nothing done for them.
    const its = token === undefined ? undefined : creatorHash(token);
    const mine = known.find((each) => each.creatorHash && its && sameText(each.creatorHash, its));
    const found = mine && (await openingOf({ read }, stream, mine.meetingId));
    if (!found) return unauthorized;
    const opened = await reveal(catalog, found);
    const { openedAt, secret } = opened.data;
    const title = 'title' in secret ? secret.title : undefined;
    const visits = () => visitsOf({ read }, stream, opened.revision + 1, opened.data.meetingId);
    return { roomId, ...(title !== undefined && { title }), openedAt, visits, position };
  };

  async function openingOf(paced: Paced, stream: string, meetingId: string) {
    for await (const page of readForward(paced, stream)) {
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
    paced: Paced,
    stream: string,
    from: number,
    meetingId: string,
  ): AsyncGenerator<readonly Visit[]> {
    const stays = createStays();
    for await (const page of readForward(paced, stream, from)) {
      const mine = page
        .filter(({ type }) => Object.hasOwn(stays.on, type))
        .map((event) => asEvent<Moving>(event))
        .filter(({ data }) => data.meetingId === meetingId);
      // Keys come from another server: they are asked for together.
      for (const event of await Promise.all(mine.map((each) => reveal(catalog, each))))
        handlerFor(stays.on, event)?.(event);
      yield stays.over();
      if (page.some((event) => isEndOf(meetingId, event))) break;
    }
    yield stays.still();
  }
}

/** People as they come and go. */
function createStays() {
  const here = new Map<string, Visit>();
  const waiting = new Map<string, string>();
  /** Names of those who left last, and may come back. */
  const departed = new LRUCache<string, string>({ max: MOST_DEPARTED });
  let left: Visit[] = [];

  const came = (participantId: string, name: string, joinedAt: number) =>
    void here.set(participantId, { participantId, name, joinedAt });

  function went(participantId: string, leftAt: number) {
    const visit = here.get(participantId);
    if (!visit) return;
    left.push({ ...visit, leftAt });
    departed.set(participantId, visit.name);
    here.delete(participantId);
  }

  const on: EventHandlers<RevealedEvent<Moving>, void> = {
    ParticipantJoined: ({ data }) => came(data.participantId, data.secret.name, data.joinedAt),
    EntryRequested: ({ data }) => void waiting.set(data.participantId, data.secret.name),
    EntryGranted({ data: { participantId, grantedAt } }) {
      came(participantId, waiting.get(participantId) ?? NAMELESS, grantedAt);
      waiting.delete(participantId);
    },
    EntryRefused: ({ data }) => void waiting.delete(data.participantId),
    EntryWithdrawn: ({ data }) => void waiting.delete(data.participantId),
    ParticipantRejoined: ({ data: { participantId, rejoinedAt } }) =>
      came(participantId, departed.get(participantId) ?? NAMELESS, rejoinedAt),
    ParticipantLeft: ({ data }) => went(data.participantId, data.leftAt),
    ParticipantKicked: ({ data }) => went(data.participantId, data.kickedAt),
  };

  return {
    on,
    /** Those that are over since it was asked last. */
    over(): readonly Visit[] {
      const over = left;
      left = [];
      return over;
    },
    still: (): readonly Visit[] => [...here.values()],
  };
}

const isEndOf = (meetingId: string, event: RecordedEvent): boolean =>
  isEvent<RoomEvent<'RoomEnded'>>('RoomEnded', event) && event.data.meetingId === meetingId;

export type Attendance = ReturnType<typeof createAttendance>;
