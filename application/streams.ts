/** The state of single streams, folded from the log and remembered, so that hot ones are not read again. */
import { LRUCache } from 'lru-cache';
import type { Catalog } from '../domain/shared/catalog.js';
import type { Decider, DomainEvent } from '../domain/shared/decider.js';
import type { EventLog, Position, RecordedEvent, Reveal } from './ports.js';

/** A kind of stream: its rules, and the events it may hold. */
export interface Aggregate<State, Command, Event extends DomainEvent> {
  readonly catalog: Catalog;
  readonly decider: Decider<State, Command, Event>;
}

/** What a command with an `Idempotency-Key` did to a stream. */
export interface KeyedCommand {
  readonly fingerprint: string;
  /** The last revision it wrote. */
  readonly revision: number;
}

export interface Loaded<State> {
  readonly state: State;
  /** The last revision folded in; -1 when the stream has no event. */
  readonly revision: number;
  /** The position of that event; 0 when there is none. */
  readonly position: Position;
  /** Keyed commands seen so far, by command id. */
  readonly keyed: ReadonlyMap<string, KeyedCommand>;
  readonly deleted: boolean;
}

export interface Streams {
  /** The state as this process knows it, read from the log when it is not remembered. */
  load<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string): Promise<Loaded<S>>;
  /** The state as the log has it now; `found` is given every event read on the way, oldest first. */
  refresh<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    found?: (event: RecordedEvent) => void,
  ): Promise<Loaded<S>>;
  /** The state as it was just after a revision. */
  asOf<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    revision: number,
  ): Promise<{ loaded: Loaded<S>; events: readonly RecordedEvent[] }>;
  /** Remembers what an append of this process made of a stream. */
  remember<S>(stream: string, loaded: Loaded<S>): void;
  /** Keeps remembered streams fresh with what other nodes append; give it every event of the live feed. */
  observe(event: RecordedEvent): void;
  /** Drops what is remembered of a stream: what it was folded from has been erased. */
  forget(stream: string): void;
}

const REMEMBERED = 20_000;
const NONE: ReadonlyMap<string, KeyedCommand> = new Map();

interface Remembered {
  loaded: Loaded<unknown>;
  /** The newest revision the live feed has shown; when it is beyond `loaded`, the tail is read first. */
  newest: number;
}

export function createStreams(log: EventLog, reveal: Reveal, max = REMEMBERED): Streams {
  const remembered = new LRUCache<string, Remembered>({ max });

  async function fold<S, C, E extends DomainEvent>(
    { catalog, decider }: Aggregate<S, C, E>,
    base: Loaded<S>,
    events: readonly RecordedEvent[],
  ): Promise<Loaded<S>> {
    let { state, revision, position, keyed } = base;
    for (const event of events) {
      state = decider.evolve(state, await reveal<E>(catalog, event));
      revision = event.revision;
      position = event.position;
      keyed = withCommand(keyed, event);
    }
    return { ...base, state, revision, position, keyed };
  }

  const remember: Streams['remember'] = (stream, loaded) => {
    const current = remembered.peek(stream);
    if (current && current.loaded.revision > loaded.revision) return;
    remembered.set(stream, { loaded, newest: Math.max(current?.newest ?? -1, loaded.revision) });
  };

  async function refresh<S, C, E extends DomainEvent>(
    kind: Aggregate<S, C, E>,
    stream: string,
    found?: (event: RecordedEvent) => void,
  ): Promise<Loaded<S>> {
    const base =
      (remembered.get(stream)?.loaded as Loaded<S> | undefined) ?? empty(kind.decider.initialState);
    const events = await log.read(stream, { from: base.revision + 1 });
    if (events === 'missing') return base;
    if (events === 'deleted') {
      const deleted = { ...base, deleted: true };
      remember(stream, deleted);
      return deleted;
    }
    for (const event of events) found?.(event);
    const loaded = await fold(kind, base, events);
    remember(stream, loaded);
    return loaded;
  }

  return {
    refresh,
    remember,
    forget: (stream) => void remembered.delete(stream),

    async load<S, C, E extends DomainEvent>(kind: Aggregate<S, C, E>, stream: string) {
      const known = remembered.get(stream);
      if (known && known.newest <= known.loaded.revision) return known.loaded as Loaded<S>;
      return refresh(kind, stream);
    },

    async asOf(kind, stream, revision) {
      const found = await log.read(stream);
      const events = typeof found === 'string' ? [] : found.filter((event) => event.revision <= revision);
      return { loaded: await fold(kind, empty(kind.decider.initialState), events), events };
    },

    observe({ stream, revision }) {
      const known = remembered.peek(stream);
      if (known && revision > known.newest) known.newest = revision;
    },
  };
}

const empty = <S>(state: S): Loaded<S> => ({
  state,
  revision: -1,
  position: 0n,
  keyed: NONE,
  deleted: false,
});

function withCommand(keyed: ReadonlyMap<string, KeyedCommand>, { metadata, revision }: RecordedEvent) {
  const { commandId, fingerprint } = metadata;
  if (!commandId || !fingerprint) return keyed;
  return new Map(keyed).set(commandId, { fingerprint, revision });
}
