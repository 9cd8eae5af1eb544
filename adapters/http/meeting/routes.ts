/** The routes of the meetings that are plain HTTP: what there is, how to reach one another, making a room. */
import type { Census } from '../../../application/meeting/room-metrics.js';
import type { MeetingRooms } from '../../../application/meeting/rooms.js';
import type { IceServer } from '../../../application/meeting/settings.js';
import type { Position } from '../../../application/ports/index.js';
import { isRejection } from '../../../domain/shared/index.js';
import { isProblem } from '../server/problem.js';
import type { RateLimit } from '../server/rate-limit.js';
import { type Route, route } from '../server/route.js';
import { type WebPage, wantsPage } from '../server/web-page.js';
import type { CallerOf } from './caller-digest.js';
import { parseRoom } from './parse-room.js';
import * as schemas from './schemas.js';

export interface MeetingDeps {
  readonly rooms: MeetingRooms;
  readonly census: Pick<Census, 'totals' | 'lastPosition' | 'hears'>;
  /** The last position that this node has acknowledged of meetings. */
  readonly acknowledged: () => Position;
  readonly iceServers: () => readonly IceServer[];
  readonly limitCreates: RateLimit;
  readonly callerOf: CallerOf;
  /** To try meetings with. */
  readonly page: WebPage;
  readonly release: string;
  /** How long this process runs, ms. */
  readonly uptimeMs: () => number;
}

/** Whoever makes a room is nobody yet: keys are told apart by where they come from. */
const GUEST = 'meeting.guest';
const NO_STORE = { 'Cache-Control': 'no-store' };

export function meetingRoutes(deps: MeetingDeps): readonly Route[] {
  const { rooms, census, acknowledged, iceServers, limitCreates, callerOf, page } = deps;
  const { release, uptimeMs } = deps;

  const index = route({
    method: 'GET',
    path: '/',
    summary: 'What is where; for browsers, a page to try meetings with',
    answers: { 200: { description: 'The index', schema: schemas.index } },
    handle: (request) =>
      wantsPage(request)
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
    summary: 'That it works, and how many rooms and people there are on all nodes together',
    answers: { 200: { description: 'The statistics', schema: schemas.health } },
    async handle({ ifPosition = 0n }) {
      const lastAcknowledged = acknowledged();
      const isUpToDate = await census.hears(ifPosition > lastAcknowledged ? ifPosition : lastAcknowledged);
      const { rooms: totalRooms, people: totalParticipants, peak: peakParticipants } = census.totals();
      const uptime = Math.round(uptimeMs());
      return {
        status: 200,
        body: { status: 'ok', totalRooms, totalParticipants, peakParticipants, uptime, version: release },
        headers: NO_STORE,
        position: census.lastPosition(),
        ...(!isUpToDate && { consistency: 'pending' as const }),
      };
    },
  });

  const config = route({
    method: 'GET',
    path: '/config',
    summary: 'The STUN and TURN servers by which browsers reach one another',
    answers: { 200: { description: 'For RTCPeerConnection', schema: schemas.config } },
    handle: () => ({ status: 200, body: { iceServers: iceServers() }, headers: NO_STORE }),
  });

  const create = route({
    method: 'POST',
    path: '/api/rooms',
    summary: 'Make a room before anybody comes',
    description:
      'It stays until 24 hours after it was made, was scheduled to end, or the last person left, whichever is last.',
    body: schemas.roomBody,
    answers: {
      201: { description: 'Made; what was not given is not told', schema: schemas.createdRoom },
      429: {
        description:
          'Too many rooms from this address in a minute; or the room exists already; or too many rooms stand empty',
      },
    },
    quota: {
      perNetwork: limitCreates,
      rejected: 'meeting/too-many-rooms',
      description: 'Too many rooms from this address',
    },
    async handle({ body, address, context }) {
      const input = parseRoom(body);
      if (isProblem(input)) return input;
      const created = await rooms.make(input, callerOf(address), context(GUEST, address));
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
