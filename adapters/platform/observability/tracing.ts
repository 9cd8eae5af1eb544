/** OpenTelemetry traces, exported by OTLP over HTTP. The packages are loaded only if tracing is configured. */
import type { Attributes } from '@opentelemetry/api';
import type { Logger } from '../../../application/ports/index.js';
import { maskCredentials } from '../config/mask.js';

export interface Span {
  /** W3C `traceparent` for the work it causes. */
  readonly traceparent: string;
  /** Ends it, with an error if the work failed. */
  end(attributes?: Attributes, error?: unknown): void;
}

export interface Tracer {
  /**
   * Starts a span under a `traceparent` in the W3C format, else a new trace. Whether a trace is recorded is decided
   * where it starts; `server`: the span answers a request of another process.
   */
  start(name: string, parent: string | undefined, attributes: Attributes, kind?: 'server' | 'internal'): Span;
  /** Exports what has ended; resolves also when the collector does not answer. */
  close(): Promise<void>;
}

export interface TracerOptions {
  /** Where spans are posted, for example `http://localhost:4318/v1/traces`. */
  readonly url: string;
  /** Share of traces that are recorded, of those that start here; 0 to 1. */
  readonly ratio: number;
  readonly node: string;
  readonly release: string;
  readonly logger: Logger;
}

/** Milliseconds an export may take, with its retries; less than the shutdown time of the process. */
const EXPORT_MS = 3000;
const WARN_EVERY_MS = 60_000;

export async function createTracer({ url, ratio, node, release, logger }: TracerOptions): Promise<Tracer> {
  const [{ diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace }, sdk, otlp, { resourceFromAttributes }] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace-base'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ]);
  let warnedAt = Number.NEGATIVE_INFINITY;
  /** An unreachable collector fails every few seconds. */
  const warn = (reason: string) => {
    if (performance.now() - warnedAt < WARN_EVERY_MS) return;
    warnedAt = performance.now();
    const masked = { reason: maskCredentials(reason), url: maskCredentials(url) };
    logger.warn(masked, 'traces could not be exported; they are dropped');
  };
  const ignored = () => {};
  diag.setLogger(
    { error: warn, warn, info: ignored, debug: ignored, verbose: ignored },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const exporter = new otlp.OTLPTraceExporter({ url, timeoutMillis: EXPORT_MS });
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': 'annals',
      'service.version': release,
      'service.instance.id': node,
    }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter, { exportTimeoutMillis: EXPORT_MS })],
  });
  const tracer = provider.getTracer('annals', release);

  return {
    start(name, parent, attributes, kind = 'internal') {
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, contextOf(parent));
      const options = { kind: kind === 'server' ? SpanKind.SERVER : SpanKind.INTERNAL, attributes };
      const span = tracer.startSpan(name, options, context);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`,
        end(more = {}, error) {
          span.setAttributes(more);
          // Without its message, which may name a stream or quote data: traces cannot be erased.
          if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: nameOf(error) });
          span.end();
        },
      };
    },
    close: () => provider.shutdown().catch((error) => warn(String(error))),
  };
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : typeof error);

function contextOf(traceparent: string) {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}
