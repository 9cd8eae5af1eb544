/** HTTP routes of the meeting service: index, health, ICE configuration, room creation. */
import type { RoomMetrics } from '../../../application/meeting/room-metrics.js';
import type { MeetingRooms, RoomInput } from '../../../application/meeting/rooms.js';
import type { IceServer } from '../../../application/meeting/settings.js';
import type { Derivation, Position } from '../../../application/ports/index.js';
import { PASSWORD_LENGTH, roomIdOf } from '../../../domain/meeting/room-id.js';
import { type DataOf, isRejection, lengthOf } from '../../../domain/shared/index.js';
import { networkOf, type RateLimit, type RouteQuota } from '../server/client-network.js';
import { isProblem, type Problem, problem } from '../server/policy.js';
import { type Route, route } from '../server/route.js';
import { acceptsHtml, type WebPage } from '../server/web-page.js';
import * as schemas from './schemas.js';

export interface MeetingDeps {
  readonly rooms: MeetingRooms;
  readonly roomMetrics: Pick<RoomMetrics, 'totals' | 'lastPosition' | 'awaitPosition'>;
  /** Returns the last meeting event position that this node has acknowledged. */
  readonly acknowledged: () => Position;
  readonly iceServers: () => readonly IceServer[];
  readonly limitCreates: RateLimit;
  readonly callerOf: CallerDigest;
  readonly page: WebPage;
  readonly release: string;
  readonly uptimeMs: () => number;
}

/** Returns a keyed digest of the network of an address, so that no address is stored; the same on all nodes. */
export type CallerDigest = (address: string) => string;

export const createCallerDigest =
  (derivation: Derivation): CallerDigest =>
  (address) =>
    derivation.id('meeting.caller', networkOf(address));

export const createRoomQuota = (perNetwork: RateLimit): RouteQuota => ({
  perNetwork,
  rejected: 'meeting/too-many-rooms',
  description: 'Too many rooms created from this address',
});

/** Actor of anonymous room creation; idempotency keys are scoped by client address. */
const GUEST = 'meeting.guest';
const NO_STORE = { 'Cache-Control': 'no-store' };

export function meetingRoutes(deps: MeetingDeps): readonly Route[] {
  const { rooms, roomMetrics, acknowledged, iceServers, limitCreates, callerOf, page } = deps;
  const { release, uptimeMs } = deps;

  const index = route({
    method: 'GET',
    path: '/',
    summary: 'List the endpoints; for browsers, the page to meet in',
    answers: { 200: { description: 'The index', schema: schemas.index } },
    handle: (request) =>
      acceptsHtml(request)
        ? page.document(request)
        : {
            status: 200,
            body: { service: 'meeting', version: release, links: LINKS },
            headers: { Vary: 'Accept' },
          },
  });

  const health = route({
    method: 'GET',
    path: '/health',
    summary: 'Report health, and the number of rooms and participants in the cluster',
    answers: { 200: { description: 'The statistics', schema: schemas.health } },
    async handle({ ifPosition = 0n }) {
      const lastAcknowledged = acknowledged();
      const isUpToDate = await roomMetrics.awaitPosition(ifPosition > lastAcknowledged ? ifPosition : lastAcknowledged);
      const { rooms: totalRooms, people: totalParticipants, peak: peakParticipants } = roomMetrics.totals();
      const uptime = Math.round(uptimeMs());
      return {
        status: 200,
        body: { status: 'ok', totalRooms, totalParticipants, peakParticipants, uptime, version: release },
        headers: NO_STORE,
        position: roomMetrics.lastPosition(),
        consistency: isUpToDate ? undefined : 'pending',
      };
    },
  });

  const config = route({
    method: 'GET',
    path: '/config',
    summary: 'Get the STUN and TURN servers',
    answers: { 200: { description: 'For RTCPeerConnection', schema: schemas.config } },
    handle: () => ({ status: 200, body: { iceServers: iceServers() }, headers: NO_STORE }),
  });

  const create = route({
    method: 'POST',
    path: '/api/rooms',
    summary: 'Create a room in advance',
    description: 'The room expires 24 hours after its creation, scheduled end, or last departure, whichever is latest.',
    body: schemas.roomBody,
    answers: {
      201: { description: 'Created; properties that were not given are absent', schema: schemas.createdRoom },
      429: {
        description: 'Too many rooms created from this address, the room exists already, or too many rooms are empty',
      },
    },
    quota: createRoomQuota(limitCreates),
    async handle({ body, address, context }) {
      const input = parseRoom(body);
      if (isProblem(input)) return input;
      const created = await rooms.createRoom(input, callerOf(address), context(GUEST, address));
      return isRejection(created) ? created : { status: 201, ...created };
    },
  });

  return [index, page.parts, health, config, create];
}

const LINKS = {
  health: '/health',
  config: '/config',
  rooms: '/api/rooms',
  signaling: '/ws',
  openapi: '/openapi.json',
};

const MAX_TITLE_LENGTH = 80;

const invalid = (error: string) => problem(400, error);

const DATE = /^\d{4}-\d\d-\d\d$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d:\d\d)?$/i;

/** Returns Unix ms of an ISO 8601 date, or undefined if it is invalid. */
function parseDate(text: string): number | undefined {
  const time = TIME.exec(text);
  if (!time && !DATE.test(text)) return undefined;
  const day = text.slice(0, 10);
  // `Date.parse` accepts 31 February and rolls over into March.
  const midnight = Date.parse(`${day}T00:00:00Z`);
  if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(day)) return undefined;
  const instant = time ? Date.parse(time[1] === undefined ? `${text}Z` : text) : midnight;
  return instant >= 0 ? instant : undefined;
}

type RoomBody = DataOf<typeof schemas.roomBody>;

function parseScheduledTime(value: number | string | undefined, label: string): number | undefined | Problem {
  if (typeof value !== 'string') return value;
  return parseDate(value.trim()) ?? invalid(`${label} is invalid`);
}

/** Returns the normalized input, or the problem with it. */
function parseRoom(body: RoomBody): RoomInput | Problem {
  const roomId = body.roomId === undefined ? undefined : roomIdOf(body.roomId);
  if (body.roomId !== undefined && !roomId) return invalid('Room id must be 6 characters of A-Z and 0-9');
  const password = body.password?.trim();
  if (password === '') return invalid('Password must not be empty');
  if (password && lengthOf(password) > PASSWORD_LENGTH) return invalid('Password is too long');
  // HTML forms send an empty string for a missing title.
  const title = body.title?.trim() || undefined;
  if (title && lengthOf(title) > MAX_TITLE_LENGTH) return invalid('Title is too long');
  const scheduledStart = parseScheduledTime(body.scheduledStart, 'Scheduled start');
  if (isProblem(scheduledStart)) return scheduledStart;
  const scheduledEnd = parseScheduledTime(body.scheduledEnd, 'Scheduled end');
  if (isProblem(scheduledEnd)) return scheduledEnd;
  if (scheduledStart !== undefined && scheduledEnd !== undefined && scheduledEnd <= scheduledStart)
    return invalid('Scheduled end must be after the scheduled start');
  return { roomId, password, maxParticipants: body.maxParticipants, title, scheduledStart, scheduledEnd };
}
