/** Records what a node does as spans: commands, appends, projections, reactions and the relay. */
import { createTracer, type Span, type Tracer } from '../../adapters/platform/observability/tracing.js';
import type { HandleCommand } from '../../application/command/index.js';
import type { EventLog, Logger, Position, RecordedEvent } from '../../application/ports/index.js';
import type { AnyReaction, EventHandler } from '../../application/subscription/index.js';
import { isRejection, serviceOf } from '../../domain/shared/index.js';
import type { Builds } from '../../projections/kernel/index.js';
import type { AnnalsValues } from '../settings.js';
import { nodeName } from './locate-servers.js';
import { release } from './release.js';

/** Returns the tracer of a node, if an address for its spans is configured. */
export async function openTracer(values: AnnalsValues, logger: Logger): Promise<Tracer | undefined> {
  const url = values['telemetry.url'];
  if (!url) return undefined;
  const ratio = values['telemetry.percent'] / 100;
  return createTracer({ url, ratio, node: nodeName(values.dataDir), release, logger });
}

/**
 * Wrappers of the parts of a node; without a tracer they change nothing. A command continues the trace of its request
 * and hands it to its events, and all that an event causes continues the trace stored with it.
 */
export function createTracing(tracer: Tracer | undefined) {
  if (!tracer) return untraced;
  const { start } = tracer;

  return {
    appends:
      (append: EventLog['append']): EventLog['append'] =>
      (stream, expected, events) => {
        const span = start('append', events[0]?.metadata.traceparent, {
          service: serviceOf(stream),
          events: events.length,
        });
        return record([span], append(stream, expected, events), ({ outcome }) => ({ outcome }));
      },
    commands:
      (handle: HandleCommand): HandleCommand =>
      (kind, stream, command, context, beforeAppend) => {
        const span = start('command', context.traceparent, { service: kind.catalog.service });
        const handling = handle(kind, stream, command, { ...context, traceparent: span.traceparent }, beforeAppend);
        return record([span], handling, (outcome) =>
          isRejection(outcome) ? { rejected: outcome.rejected } : { position: String(outcome.position) },
        );
      },
    builds: (builds: Builds): Builds => ({
      ...builds,
      async open(model, collection, lease) {
        const apply = await builds.open(model, collection, lease);
        return (events) => {
          const spans = events.flatMap((event) => spanOf(`project ${model.name}`, event));
          return record(spans, apply(events));
        };
      },
    }),
    reactions: (reactions: readonly AnyReaction[]): readonly AnyReaction[] =>
      reactions.map((reaction) => ({
        ...reaction,
        on: Object.fromEntries(
          Object.entries(reaction.on).map(([type, handler]) => [
            type,
            (event: RecordedEvent) => record(spanOf(`react ${reaction.name}`, event), handler(event)),
          ]),
        ),
      })),
    /** @param begun Events up to here were delivered before: they are read again at the start of a node. */
    handlers: (handlers: readonly EventHandler[], begun: Position): readonly EventHandler[] => [
      (event) => {
        const spans = event.position > begun ? spanOf('relay', event) : [];
        for (const handler of handlers) handler(event);
        for (const span of spans) span.end();
      },
    ],
  };

  /** Starts the span of an event's part in its trace; none for an event that no traced request has caused. */
  function spanOf(name: string, event: Pick<RecordedEvent, 'stream' | 'type' | 'position' | 'metadata'>): Span[] {
    const { stream, type, position, metadata } = event;
    if (metadata.traceparent === undefined) return [];
    const attributes = { service: serviceOf(stream), type, position: String(position) };
    return [start(name, metadata.traceparent, attributes)];
  }
}

export type Tracing = ReturnType<typeof createTracing>;

const same = <T>(part: T): T => part;
const untraced = {
  appends: same<EventLog['append']>,
  commands: same<HandleCommand>,
  builds: same<Builds>,
  reactions: same<readonly AnyReaction[]>,
  handlers: (handlers: readonly EventHandler[], _begun: Position) => handlers,
};

/** Ends the spans with the work, which has begun. */
async function record<T>(
  spans: readonly Span[],
  work: Promise<T>,
  attributesOf: (result: T) => Parameters<Span['end']>[0] = () => ({}),
): Promise<T> {
  try {
    const result = await work;
    for (const span of spans) span.end(attributesOf(result));
    return result;
  } catch (error) {
    for (const span of spans) span.end({}, error);
    throw error;
  }
}
