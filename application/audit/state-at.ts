/** Shows things as they were at a time: folds the events of their stream that were recorded until then. */
import {
  type Catalog,
  type DomainEvent,
  type EventData,
  type Rejection,
  rejection,
} from '../../domain/shared/index.js';
import { type KernelPorts, readForward } from '../command/index.js';
import { sliceExpired, yieldToEventLoop } from '../concurrency/index.js';
import type { EventLog, Position, RevealedEvent } from '../ports/index.js';

/** A kind of thing whose past states can be shown. */
export interface ThingKind<State = unknown> {
  /** One word, as in `message:<id>`. */
  readonly name: string;
  readonly catalog: Catalog;
  readonly initialState: State;
  /** Its stream; undefined for a text that is no id. `id` is empty for a thing that exists once. */
  streamOf(id: string): string | undefined;
  /** Whether an event is about the thing. Absent: its stream is about nothing else. */
  isAbout?(id: string, data: EventData): boolean;
  /** Type of the event with which the earlier events of the stream are erased. */
  readonly erasedBy?: string;
  /** Absent: callers with access to this kind may see all of them. */
  isVisibleTo?(viewer: string, data: EventData): boolean;
  /** Adds an event, in plaintext unless its secret is erased. */
  evolve(state: State, event: DomainEvent): State;
  /** The state for people: names as in the API of the service, times in ISO 8601. Undefined while it does not exist. */
  view(state: State, options: ViewOptions): object | undefined;
}

export interface ViewOptions {
  readonly id: string;
  /** Unix ms. */
  readonly time: number;
  /** Returns a secret value, or a placeholder if it is erased. */
  secret<Value>(value: Value): Value | typeof ERASED;
}

const ERASED = '(erased)';

export interface StateAt {
  /** `message:<id>`. */
  readonly thing: string;
  /** ISO 8601, as are all times. */
  readonly time: string;
  /** When the last event up to then was recorded. */
  readonly changedAt: string;
  /** Revision of that event in its stream. */
  readonly revision: number;
  /** Its secrets are erased, and shown as a placeholder. */
  readonly erased: boolean;
  readonly state: object;
}

export interface FoundState {
  readonly found: StateAt;
  /** Position of the last event. */
  readonly position: Position;
}

/**
 * Returns the state of a thing at a time (Unix ms, inclusive).
 *
 * @param viewer User whose rights apply; absent for the operator, who may see everything.
 */
export type FindStateAt = (thing: string, time: number, viewer?: string) => Promise<FoundState | Rejection>;

export type StateAtPorts = Pick<KernelPorts, 'log' | 'decryptEvent' | 'clock'>;

export const createStateAt =
  ({ log, decryptEvent, clock }: StateAtPorts, kinds: readonly ThingKind[]): FindStateAt =>
  async (thing, time, viewer) => {
    const [name = '', id] = splitThing(thing);
    const kind = kinds.find((each) => each.name === name);
    if (!kind) return unknownKind(name, kinds);
    if (time > clock.now()) return inFuture;
    const stream = kind.streamOf(id);
    const start = stream === undefined ? 'missing' : await log.read(stream, { limit: 1 });
    if (start === 'deleted') return erased(thing);
    if (start === 'missing' || stream === undefined) return notFound(thing);

    let state = kind.initialState;
    let last: RevealedEvent | undefined;
    let isErased = false;
    let isLater = false;
    for await (const event of eventsAbout(kind, id, log, stream)) {
      if (viewer !== undefined && kind.isVisibleTo?.(viewer, event.data) === false) return notFound(thing);
      // A clock that was set back does not bring later events before earlier ones.
      isLater ||= event.recordedAt > time;
      if (isLater) {
        const isCut = last === undefined && !kind.isAbout && event.revision > 0;
        if (isCut || event.type === kind.erasedBy) return erased(thing);
        if (last === undefined) return notYet(thing, event.recordedAt);
        if (kind.erasedBy === undefined) break;
        continue;
      }
      last = await decryptEvent(kind.catalog, event);
      if (kind.catalog.events[event.type]?.sealed) isErased = last.erased;
      state = kind.evolve(state, last);
    }
    if (!last) return notFound(thing);
    const secret = <Value>(value: Value) => (isErased ? ERASED : value);
    const view = kind.view(state, { id, time, secret });
    if (view === undefined) return notFound(thing);
    const { recordedAt, revision, position } = last;
    const [at, changedAt] = [isoTime(time), isoTime(recordedAt)];
    return { found: { thing, time: at, changedAt, revision, erased: isErased, state: view }, position };
  };

async function* eventsAbout(kind: ThingKind, id: string, log: Pick<EventLog, 'read'>, stream: string) {
  for await (const page of readForward(log, stream))
    for (const event of page) {
      if (sliceExpired()) await yieldToEventLoop();
      if (!kind.isAbout || kind.isAbout(id, event.data)) yield event;
    }
}

function splitThing(thing: string): readonly [name: string, id: string] {
  const colon = thing.indexOf(':');
  return colon < 0 ? [thing, ''] : [thing.slice(0, colon), thing.slice(colon + 1)];
}

/** Formats Unix ms. */
export const isoTime = (at: number): string => new Date(at).toISOString();

/** Lists the kinds for people: `message:<id>, policy`. */
export const describeKinds = (kinds: readonly ThingKind[]): string =>
  kinds.map(({ name, streamOf }) => (streamOf('') === undefined ? `${name}:<id>` : name)).join(', ');

const unknownKind = (name: string, kinds: readonly ThingKind[]) =>
  rejection('audit/unknown-kind', 'invalid', `"${name}" is not a kind of thing; it must be ${describeKinds(kinds)}`);
const inFuture = rejection('audit/in-future', 'invalid', 'The time is in the future');
const notFound = (thing: string) => rejection('audit/not-found', 'not-found', `There is no ${thing} in the log`);
const notYet = (thing: string, since: number) =>
  rejection('audit/not-yet', 'not-found', `${thing} did not exist then; its first event is of ${isoTime(since)}`);
const erased = (thing: string) =>
  rejection('audit/erased', 'gone', `What the log had of ${thing} at that time is erased`);
