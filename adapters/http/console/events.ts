/**
 * Routes that show the event log as it is stored. Nothing is decrypted: collectors of metrics have access to this
 * port, and must not read what is sealed.
 */
import { causationTree, type StoredEvent } from '../../../application/audit/index.js';
import type { Position } from '../../../application/ports/index.js';
import { serviceOf } from '../../../domain/shared/index.js';
import {
  type EventBrowser,
  type HeaderPage,
  type StoredHeader,
  UnreadableStart,
} from '../../eventstore/browse-events.js';
import { type Problem, problem } from '../server/policy.js';
import { type Route, route } from '../server/route.js';
import { listLimit } from '../server/validate.js';
import { eventPage, relatedEvents, storedEvent } from './schemas.js';

export interface EventRouteDeps {
  readonly browser: EventBrowser;
  /** Returns the event at a position as stored, if there is one. */
  readonly eventAt: (position: Position) => Promise<StoredEvent | undefined>;
  /** Event types by service; events of other services are not shown. */
  readonly types: ReadonlyMap<string, readonly string[]>;
}

/** Positions and revisions have 64 bits. */
const MAX = 2n ** 63n - 1n;
/** Events with the same correlation id, before and after an event. */
const MAX_RELATED = 100;

const place = { type: 'string', pattern: '^\\d{1,19}$' } as const;

const NO_EVENT = problem(404, 'There is no event at this position');
const NO_PLACE = problem(400, 'before must be the next of an earlier page');
const UNREADABLE: { readonly [reason in UnreadableStart['reason']]: Problem } = {
  'no such position': NO_PLACE,
  'no such stream': problem(404, 'There is no stream of this name'),
  'stream deleted': problem(404, 'The stream is deleted; without it, the log shows the events that are left'),
};

export function eventRoutes({ browser, eventAt, types }: EventRouteDeps): readonly Route[] {
  const isServed = (stream: string) => types.has(serviceOf(stream));
  const services = [...types.keys()].join(', ');
  const typeNames = new Set([...types.values()].flat());

  const list = route({
    method: 'GET',
    path: '/events',
    summary: 'Events of the log, the newest first, without their data',
    description:
      'A page may hold fewer events than asked for, or none, and still have a `next`: it ends after 5,000 events that ' +
      'were looked at, or two seconds.',
    query: {
      type: 'object',
      properties: {
        service: { type: 'string', description: `Only events of this service: ${services}` },
        type: { type: 'string', description: 'Only this event type, for example RoomBurned' },
        stream: { type: 'string', minLength: 1, maxLength: 500, description: 'Only events of this stream' },
        before: { ...place, description: 'The `next` of an earlier page of the same query' },
        limit: listLimit({ initial: 50, max: 200 }),
      },
    },
    answers: {
      200: { description: 'A page of events', schema: eventPage },
      404: { description: 'There is no such stream' },
    },
    async handle({ query: { service, type, stream, before, limit } }) {
      if (service !== undefined && !types.has(service)) return problem(400, `service must be one of ${services}`);
      if (type !== undefined && !typeNames.has(type)) return problem(400, 'type is not the name of an event type');
      if (stream !== undefined && !isServed(stream)) return UNREADABLE['no such stream'];
      const start = before === undefined ? undefined : BigInt(before);
      if (start !== undefined && start > MAX) return NO_PLACE;
      const matches = (header: StoredHeader) =>
        isServed(header.stream) &&
        (service === undefined || serviceOf(header.stream) === service) &&
        (type === undefined || nameOf(header) === type);
      return orUnreadable(async () => {
        const page = await (stream === undefined
          ? browser.newest(start, matches, limit)
          : browser.newestOf(stream, start, matches, limit));
        const next = stream === undefined ? page.last?.position : page.last?.revision;
        const body = { events: page.events.map(plain), scanned: page.scanned, next: next?.toString() };
        return { status: 200, body };
      });
    },
  });

  const find = async (position: string) => {
    const at = /^\d{1,19}$/.test(position) ? BigInt(position) : MAX + 1n;
    const event = at > MAX ? undefined : await eventAt(at);
    return event && isServed(event.stream) ? event : undefined;
  };

  const one = route({
    method: 'GET',
    path: '/events/:position',
    summary: 'An event as it is stored; sealed parts stay sealed',
    answers: { 200: { description: 'The event', schema: storedEvent }, 404: { description: 'There is no such event' } },
    async handle({ params: { position } }) {
      const event = await find(position);
      if (!event) return NO_EVENT;
      const { data, metadata, revision, recordedAt } = event;
      const common = { ...event, position, revision: String(revision), recordedAt: isoOf(recordedAt) };
      return { status: 200, body: { ...common, data: contentOf(data), metadata: contentOf(metadata) } };
    },
  });

  const related = route({
    method: 'GET',
    path: '/events/:position/related',
    summary: 'Events with the same correlation id near an event, each after the one that caused it',
    answers: {
      200: { description: 'The events, with the number of their causes', schema: relatedEvents },
      404: { description: 'There is no such event' },
    },
    async handle({ params: { position } }) {
      const event = await find(position);
      if (!event) return NO_EVENT;
      const correlation = correlationOf(event);
      const matches = (header: StoredHeader) =>
        isServed(header.stream) &&
        (correlation === undefined
          ? header.position === event.position
          : header.metadata.$correlationId === correlation);
      return orUnreadable(async () => {
        const [before, after] = await Promise.all([
          browser.newest(event.position, matches, MAX_RELATED),
          browser.after(event.position, matches, MAX_RELATED),
        ]);
        const all = [...before.events.toReversed(), ...after.events];
        const events = causationTree(all).map(({ event: each, depth }) => ({ ...plain(each), depth }));
        const body = { correlationId: correlation, events, ...extentOf([before, after]) };
        return { status: 200, body };
      });
    },
  });

  return [list, one, related];
}

const extentOf = (pages: readonly HeaderPage[]) => ({
  scanned: pages.reduce((sum, { scanned }) => sum + scanned, 0),
  complete: pages.every(({ last }) => last === undefined),
});

const isoOf = (ms: number) => new Date(ms).toISOString();

/** `MessagePosted` of `chat.MessagePosted.v1`. */
const nameOf = ({ type }: StoredHeader) => type.split('.')[1];

const plain = ({ position, revision, recordedAt, metadata, ...event }: StoredHeader) => ({
  position: String(position),
  revision: String(revision),
  recordedAt: isoOf(recordedAt),
  ...event,
  actor: metadata.actor,
  correlationId: metadata.$correlationId,
});

/** JSON as its value; other content as base64. */
const contentOf = (content: string | Uint8Array): unknown => {
  if (typeof content !== 'string') return Buffer.from(content).toString('base64');
  return content === '' ? null : JSON.parse(content);
};

function correlationOf({ metadata }: StoredEvent): string | undefined {
  const { $correlationId } = (contentOf(metadata) ?? {}) as { readonly $correlationId?: unknown };
  return typeof $correlationId === 'string' ? $correlationId : undefined;
}

const orUnreadable = <Result>(read: () => Promise<Result>): Promise<Result | Problem> =>
  read().catch((error) => {
    if (error instanceof UnreadableStart) return UNREADABLE[error.reason];
    throw error;
  });
