/** HTTP routes of the meeting service: index, health, ICE configuration, room creation. */
import type { RoomMetrics } from '../../../application/meeting/room-metrics.js';
import type { MeetingRooms } from '../../../application/meeting/rooms.js';
import type { IceServer } from '../../../application/meeting/settings.js';
import type { Position } from '../../../application/ports/index.js';
import { isRejection } from '../../../domain/shared/index.js';
import { isProblem } from '../server/problem.js';
import type { RateLimit } from '../server/rate-limit.js';
import { type Route, route } from '../server/route.js';
import { acceptsHtml, type WebPage } from '../server/web-page.js';
import type { CallerDigest } from './caller-digest.js';
import { parseRoom } from './parse-room.js';
import * as schemas from './schemas.js';

export interface MeetingDeps {
  readonly rooms: MeetingRooms;
  readonly roomMetrics: Pick<RoomMetrics, 'totals' | 'lastPosition' | 'awaitPosition'>;
  /** Returns the last meeting event position that this node has acknowledged. */
  readonly acknowledged: () => Position;
  readonly iceServers: () => readonly IceServer[];
  readonly limitCreates: RateLimit;
  readonly callerOf: CallerDigest;
  /** Demo page for meetings. */
  readonly page: WebPage;
  readonly release: string;
  /** Milliseconds since the process started. */
  readonly uptimeMs: () => number;
}

/** Actor of anonymous room creation; idempotency keys are scoped by client address. */
const GUEST = 'meeting.guest';
const NO_STORE = { 'Cache-Control': 'no-store' };

export function meetingRoutes(deps: MeetingDeps): readonly Route[] {
  const { rooms, roomMetrics, acknowledged, iceServers, limitCreates, callerOf, page } = deps;
  const { release, uptimeMs } = deps;

  const index = route({
    method: 'GET',
    path: '/',
    summary: 'List the endpoints; for browsers, a demo page',
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
        ...(!isUpToDate && { consistency: 'pending' as const }),
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
    quota: {
      perNetwork: limitCreates,
      rejected: 'meeting/too-many-rooms',
      description: 'Too many rooms created from this address',
    },
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
