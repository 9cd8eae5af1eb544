/** Reads history back for auditors: events in log order, opened where their keys still exist, picked by filters. */
import { type Catalog, serviceOf } from '../../domain/shared/index.js';
import { readForward } from '../command/index.js';
import type { DecryptEvent, EventLog, Position, RecordedEvent, RevealedEvent, Subscribe } from '../ports/index.js';

export interface ReplayFilter {
  readonly services: readonly string[];
  /** One stream, whole name. */
  readonly stream?: string;
  readonly types?: readonly string[];
  readonly actor?: string;
  readonly correlation?: string;
  /** Unix ms, inclusive, by the time the store took the event. */
  readonly from?: number;
  readonly to?: number;
  /** Events after this position only. */
  readonly after?: Position;
}

export interface ReplayPorts {
  readonly log: EventLog;
  readonly follow: Subscribe;
  readonly reveal: DecryptEvent;
  readonly catalogs: readonly Catalog[];
}

export interface ReplayOptions {
  /** Goes on with what comes, until the signal. */
  readonly live: boolean;
  /** Where to start in the log: at or before `after` of the filter, and a position that the log gave. */
  readonly start?: Position | 'start';
  readonly signal: AbortSignal;
}

/** There is nothing to read under that name: there never was, or the stream was ended for ever. */
export class NoSuchStream extends Error {
  override readonly name = 'NoSuchStream';

  constructor(
    readonly stream: string,
    readonly found: 'missing' | 'deleted',
  ) {
    super(`the stream ${stream} is ${found}`);
  }
}

/** So many are opened at once: their keys are read together, and few enough are in memory, large as they may be. */
const OPENED_AT_ONCE = 64;

/** Pages of events. Ends at the head of the log, or with `live` only by its signal. Throws `NoSuchStream`. */
export async function* replay(
  { log, follow, reveal, catalogs }: ReplayPorts,
  filter: ReplayFilter,
  options: ReplayOptions,
): AsyncGenerator<readonly RevealedEvent[]> {
  const catalogOf = new Map(catalogs.map((catalog) => [catalog.service, catalog]));
  const revealed = async (event: RecordedEvent) => {
    const catalog = catalogOf.get(serviceOf(event.stream));
    return catalog ? [await reveal(catalog, event)] : [];
  };
  for await (const batch of history(log, follow, filter, options)) {
    const wanted = batch.filter((event) => matches(filter, event));
    for (let from = 0; from < wanted.length; from += OPENED_AT_ONCE) {
      const page = await Promise.all(wanted.slice(from, from + OPENED_AT_ONCE).map(revealed));
      yield page.flat();
    }
  }
}

async function* history(
  log: EventLog,
  follow: Subscribe,
  { services, stream, after }: ReplayFilter,
  { live, start = after ?? 'start', signal }: ReplayOptions,
): AsyncGenerator<readonly RecordedEvent[]> {
  if (stream !== undefined && !live) {
    const end = yield* readForward(log, stream);
    if (end) throw new NoSuchStream(stream, end);
    return;
  }
  const prefixes = stream === undefined ? services.map((service) => `${service}.`) : [stream];
  for await (const { events, caughtUp } of follow({ prefixes, from: start, signal })) {
    yield events;
    if (caughtUp && !live) return;
  }
}

function matches(filter: ReplayFilter, { stream, type, metadata, recordedAt, position }: RecordedEvent): boolean {
  return (
    (filter.stream === undefined || filter.stream === stream) &&
    (filter.types === undefined || filter.types.includes(type)) &&
    (filter.actor === undefined || filter.actor === metadata.actor) &&
    (filter.correlation === undefined || filter.correlation === metadata.$correlationId) &&
    (filter.from === undefined || recordedAt >= filter.from) &&
    (filter.to === undefined || recordedAt <= filter.to) &&
    (filter.after === undefined || position > filter.after)
  );
}
