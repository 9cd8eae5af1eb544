/** A small service for tests of the kernel: its events, its read model and its audience. */
import { randomUUID } from 'node:crypto';
import type { Servers } from '@annals/engines/testing/engines.js';
import { createRelay } from '../../adapters/realtime/relay/relay.js';
import type { Frame, Sink } from '../../adapters/realtime/relay/sink.js';
import type { Aggregate } from '../../application/command/aggregate.js';
import type { CommandContext, Position, RevealedEvent } from '../../application/ports/index.js';
import type { Audience } from '../../application/subscription/audience.js';
import type { Kernel } from '../../bin/node/kernel.js';
import { type Catalog, type Decider, type DomainEvent, type EventOf, event } from '../../domain/shared/decider.js';
import { object } from '../../domain/shared/schema.js';
import type { Projection } from '../../projections/kernel/projection.js';
import { createTestKernel } from './test-kernel.js';

const text = { type: 'string' } as const;
const boxOf = ({ box }: { readonly box: string }) => `toys.box-${box}`;

export const toys = {
  service: 'toys',
  events: {
    ToyPut: event(object({ box: text, toy: text, secret: object({}, { note: text }) }), {
      sealed: { subject: boxOf, erased: { note: 'erased' } },
    }),
    /** Destroys the key of the notes. */
    NotesErased: event(object({ box: text }), { erases: boxOf }),
  },
} as const satisfies Catalog;

export type ToyEvent = EventOf<typeof toys>;
export type ToyPut = EventOf<typeof toys, 'ToyPut'>;

export interface Box {
  readonly toys: readonly string[];
  readonly notes: readonly string[];
}
export interface PutToy {
  readonly box: string;
  readonly toy: string;
  readonly note?: string;
  readonly most?: number;
  /** Erases the box instead of putting a toy. */
  readonly erase?: true;
}

const decider: Decider<Box, PutToy, ToyEvent> = {
  initialState: { toys: [], notes: [] },
  decide({ box, toy, note = '', most = Number.POSITIVE_INFINITY, erase }, { toys }) {
    if (erase) return [{ type: 'NotesErased', data: { box } }];
    if (toys.includes(toy)) return [];
    if (toys.length >= most) return { rejected: 'toys/full', kind: 'conflict' };
    return [{ type: 'ToyPut', data: { box, toy, secret: { note } } }];
  },
  evolve: {
    ToyPut: ({ toys, notes }, { toy, secret }) => ({
      toys: [...toys, toy],
      notes: [...notes, secret.note ?? ''],
    }),
    NotesErased: (state) => state,
  },
};

export const box: Aggregate<Box, PutToy, ToyEvent> = { catalog: toys, decider };

export const contents: Projection<ToyPut> = {
  name: 'toys.contents',
  version: 1,
  indexes: [{ key: { count: 1 } }],
  on: {
    ToyPut: ({ data }) => [
      {
        put: data.box,
        update: { $inc: { count: 1 }, $push: { toys: { toy: data.toy, note: data.secret } } },
      },
    ],
  },
};

export const startToys = (servers: Servers, database: string, projections = [contents]): Promise<Kernel> =>
  createTestKernel({ servers, database, catalogs: [toys], projections });

export const context = (commandId: string = randomUUID(), fingerprint?: string): CommandContext => ({
  commandId,
  actor: 'tester',
  correlationId: 'test',
  ...(fingerprint ? { fingerprint } : {}),
});

export type WardEvent =
  | DomainEvent<'Entered', { ward: string; person: string }>
  | DomainEvent<'Left', { ward: string; person: string }>
  | DomainEvent<'Wrote', { ward: string; text: string }>
  | DomainEvent<'Closed', { ward: string }>;

export type Wards = { readonly [ward: string]: readonly string[] };

const people = (wards: Wards, ward: string) => wards[ward] ?? [];
const keys = (persons: readonly string[]) => persons.map((person) => `person:${person}`);

export const wardAudience: Audience<Wards, WardEvent> = {
  initialState: {},

  snapshot: {
    version: 1,
    parts: (wards) => Object.entries(wards),
    from: (parts: readonly (readonly [string, readonly string[]])[]) => Object.fromEntries(parts),
  },

  on: {
    Entered: {
      evolve: (wards, { data: { ward, person } }) => ({
        ...wards,
        [ward]: [...people(wards, ward).filter((each) => each !== person), person],
      }),
      deliver: ({ type, data }, after) => {
        const payload = { ward: data.ward, people: people(after, data.ward) };
        return [
          { to: keys([data.person]), message: { type: 'Ward', payload } },
          { to: keys(people(after, data.ward)), message: { type, payload: data } },
        ];
      },
    },

    Left: {
      evolve: (wards, { data: { ward, person } }) => ({
        ...wards,
        [ward]: people(wards, ward).filter((each) => each !== person),
      }),
      deliver: ({ type, data }, after) => [
        { to: keys(people(after, data.ward)), message: { type, payload: data } },
        { to: keys([data.person]), message: { type, payload: data } },
      ],
    },

    Wrote: {
      deliver: ({ type, data }, after) => [{ to: keys(people(after, data.ward)), message: { type, payload: data } }],
    },

    Closed: {
      evolve: (wards, { data: { ward } }) => ({ ...wards, [ward]: [] }),
      deliver: ({ type, data }, _, before) => [
        { to: keys(people(before, data.ward)), message: { type, payload: data } },
      ],
    },
  },
};

/** An event as delivered by the live feed. */
export function at(position: number | bigint, event: WardEvent): RevealedEvent<WardEvent> {
  const recorded = {
    id: `e${position}`,
    stream: 'wards.ward-1',
    revision: 0,
    position: BigInt(position),
    version: 1,
    recordedAt: 0,
    metadata: {},
    erased: false,
  };
  return { ...recorded, ...event };
}

export interface Recording extends Sink {
  readonly sent: { readonly message: { type: string; payload?: unknown }; readonly position?: Position }[];
  readonly frames: Frame[];
  /** How the stream ended; undefined while it is open. */
  ended: 'over' | 'resume' | 'cut' | undefined;
  /** Disconnects the client. */
  leave(): void;
  unread: number;
  /** While false, sent frames count as unread. */
  reading: boolean;
  /** Reads all unread frames. */
  read(): void;
  cursor(): Position | undefined;
}

export function record(): Recording {
  const listeners: (() => void)[] = [];
  const drains: (() => void)[] = [];
  let beaten: Position | undefined;
  const recording: Recording = {
    sent: [],
    frames: [],
    ended: undefined,
    unread: 0,
    reading: true,
    read() {
      recording.unread = 0;
      for (const drained of drains) drained();
    },
    onDrain: (listener) => void drains.push(listener),
    send(frame) {
      if (recording.ended) return;
      if (!recording.reading) recording.unread += frame.json.length;
      recording.frames.push(frame);
      const { json, position } = frame;
      recording.sent.push({ message: JSON.parse(json), ...(position === undefined ? {} : { position }) });
      if (position !== undefined) beaten = position;
    },
    beat(position) {
      if (position !== undefined) beaten = position;
    },
    buffered: () => recording.unread,
    end: (how) => finish(how),
    cut: () => finish('cut'),
    onClose: (listener) => void listeners.push(listener),
    leave: () => finish('over'),
    cursor: () => beaten,
  };
  const finish = (how: 'over' | 'resume' | 'cut') => {
    if (recording.ended) return;
    recording.ended = how;
    for (const listener of listeners) listener();
  };
  return recording;
}

export const types = ({ sent }: Recording) => sent.map(({ message }) => message.type);

export const entered = (person: string, ward = 'w'): WardEvent => ({
  type: 'Entered',
  data: { ward, person },
});
export const left = (person: string, ward = 'w'): WardEvent => ({ type: 'Left', data: { ward, person } });
export const wrote = (text: string, ward = 'w'): WardEvent => ({ type: 'Wrote', data: { ward, text } });

/** Head of the log, beyond all published events. */
export const head = async () => 1000n;

/** A relay of wards with people in it; the events so far have positions 1, 2, ... */
export function relayWith(events: readonly WardEvent[], ringSize?: number) {
  const relay = createRelay({ audience: wardAudience, head, ...(ringSize ? { ringSize } : {}) });
  let next = 1;
  const publish = (...more: readonly WardEvent[]) => {
    for (const event of more) relay.publish(at(next++, event));
  };
  publish(...events);
  return { relay, publish };
}

export const connectAs = (person: string) => ({ keys: [`person:${person}`] });
