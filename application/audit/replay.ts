/** Replays the event log for auditors: filtered events in log order, decrypted if their keys still exist. */

import { type Catalog, serviceOf } from '../../domain/shared/index.js';
import { type KernelPorts, readForward } from '../command/index.js';
import type { EventLog, Position, RecordedEvent, RevealedEvent, Subscribe } from '../ports/index.js';

export interface ReplayFilter {
  readonly services: readonly string[];
  /** Full name of one stream. */
  readonly stream?: string;
  readonly types?: readonly string[];
  readonly actor?: string;
  readonly correlation?: string;
  /** Id of a command. */
  readonly command?: string;
  /** Id of a user, channel, message, room or other thing that the stream or the decrypted data names. */
  readonly subject?: string;
  /** Time of recording, Unix ms, inclusive. */
  readonly from?: number;
  readonly to?: number;
  /** Events after this position only. */
  readonly after?: Position;
}

export interface ReplayPorts extends Pick<KernelPorts, 'log' | 'follow' | 'decryptEvent'> {
  readonly catalogs: readonly Catalog[];
}

export interface ReplayOptions {
  /** Continues with new events until the signal. */
  readonly live: boolean;
  /** Start in the log; must be a position from the log, not later than `after` of the filter. */
  readonly start?: Position | 'start';
  readonly signal: AbortSignal;
}

/** The stream does not exist or was deleted. */
export class NoSuchStream extends Error {
  override readonly name = 'NoSuchStream';

  constructor(
    readonly stream: string,
    readonly found: 'missing' | 'deleted',
  ) {
    super(`the stream ${stream} is ${found}`);
  }
}

/** Events decrypted in parallel: keys are read together, while memory stays bounded for large events. */
const BATCH_SIZE = 64;

/** Yields pages of events. Ends at the head of the log; with `live` only by its signal. Throws `NoSuchStream`. */
export async function* replay(
  { log, follow, decryptEvent, catalogs }: ReplayPorts,
  filter: ReplayFilter,
  options: ReplayOptions,
): AsyncGenerator<readonly RevealedEvent[]> {
  const catalogOf = new Map(catalogs.map((catalog) => [catalog.service, catalog]));
  const decrypt = async (event: RecordedEvent) => {
    const catalog = catalogOf.get(serviceOf(event.stream));
    return catalog ? [await decryptEvent(catalog, event)] : [];
  };
  for await (const batch of history(log, follow, filter, options)) {
    const selected = batch.filter((event) => matches(filter, event));
    for (let from = 0; from < selected.length; from += BATCH_SIZE) {
      const page = await Promise.all(selected.slice(from, from + BATCH_SIZE).map(decrypt));
      yield page.flat().filter((event) => isAbout(filter.subject, event));
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
    (filter.command === undefined || filter.command === metadata.commandId) &&
    (filter.from === undefined || recordedAt >= filter.from) &&
    (filter.to === undefined || recordedAt <= filter.to) &&
    (filter.after === undefined || position > filter.after)
  );
}

const isAbout = (id: string | undefined, { stream, data }: RevealedEvent): boolean =>
  id === undefined || stream.slice(stream.indexOf('-') + 1) === id || JSON.stringify(data).includes(JSON.stringify(id));
