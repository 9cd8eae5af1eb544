/** A toy audience (wards and the people in them) and a sink that keeps what it is sent, for the tests of the relay. */
import { createRelay } from '../../adapters/realtime/relay/relay.js';
import type { Frame, Sink } from '../../adapters/realtime/relay/sink.js';
import type { Position, RevealedEvent } from '../../application/ports/index.js';
import type { Audience } from '../../application/subscription/audience.js';
import type { DomainEvent } from '../../domain/shared/decider.js';

export type WardEvent =
  | DomainEvent<'Entered', { ward: string; person: string }>
  | DomainEvent<'Left', { ward: string; person: string }>
  | DomainEvent<'Said', { ward: string; text: string }>
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

    Said: {
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

/** An event as the feed gives it. */
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
  /** How it ended, if it has. */
  ended: 'over' | 'resume' | 'cut' | undefined;
  /** The client goes away. */
  leave(): void;
  unread: number;
  /** While false, what it is sent stays unread. */
  reading: boolean;
  /** Takes all that is unread. */
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
export const said = (text: string, ward = 'w'): WardEvent => ({ type: 'Said', data: { ward, text } });

/** The log is further than what was told here. */
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
