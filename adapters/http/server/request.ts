/** Creates the `Request` of routes from koa's context; rarely used properties are computed lazily. */
import type { Context } from 'koa';
import { newCommandId } from '../../../application/command/index.js';
import type { Clock, CommandContext, Derivation, Logger, Position } from '../../../application/ports/index.js';
import type { After } from '../../platform/process/timer.js';
import { basicOf, bearerOf, cursorOf, idempotencyKeyOf, ifPositionOf, traceparentOf } from '../security/headers.js';
import type { ReceivedBlobs } from '../upload/upload-spec.js';
import type { Budgets } from './budgets.js';
import { isProblem, type Problem } from './problem.js';
import { parseQuery } from './query.js';
import { quotaOf, type RouteQuota } from './rate-limit.js';
import type { Request } from './route.js';

export interface RequestDeps {
  readonly service: string;
  readonly derivation: Derivation;
  readonly logger: Logger;
  readonly clientAddress: (socketAddress: string, forwardedFor: string | undefined) => string;
  readonly budgets: Budgets;
  /** Deadline of admission and handler together in ms, unless the route sets its own. */
  readonly answerMs?: number;
  /** Timer for slow bodies. Default: system time. */
  readonly after?: After;
  /** Monotonic clock for the message rate of WebSockets. */
  readonly clock?: Clock;
}

type Query = { readonly [name: string]: unknown };

/** A request with a body that is set later, as `admit` runs before it is read. */
export interface PendingRequest extends Request<unknown, Query> {
  query: Query;
  body: unknown;
  /** The raw body or its digest, to compare repeated requests. */
  bytes: Buffer;
  received: ReceivedBlobs;
  /** Aborts the signal after a timeout, when the pending work is no longer needed. */
  abort(): void;
}

const NO_BYTES = Buffer.alloc(0);
const NONE_RECEIVED: ReceivedBlobs = new Map();

export function createRequest(
  ctx: Context,
  params: Request['params'],
  requestId: string,
  deps: RequestDeps,
  { quota, socket }: { readonly quota?: RouteQuota; readonly socket?: object },
): PendingRequest | Problem {
  const headers = singleHeaders(ctx.req.headers);
  // Each message of a WebSocket is a command with its own key.
  const idempotencyKey = socket ? undefined : idempotencyKeyOf(headers['idempotency-key']);
  if (isProblem(idempotencyKey)) return idempotencyKey;
  const ifPosition = ifPositionOf(headers['if-position']);
  if (isProblem(ifPosition)) return ifPosition;
  return new Pending(ctx, { params, requestId, headers, idempotencyKey, ifPosition, quota }, deps);
}

interface ParsedRequest extends Pick<Request, 'params' | 'requestId' | 'headers' | 'idempotencyKey' | 'ifPosition'> {
  readonly quota: RouteQuota | undefined;
}

/** A class for speed: creating an object literal with these getters takes several times as long. */
class Pending implements PendingRequest {
  readonly method: string;
  readonly path: string;
  readonly params: Request['params'];
  readonly headers: Request['headers'];
  readonly requestId: string;
  readonly idempotencyKey: string | undefined;
  readonly ifPosition: Position | undefined;
  query: Query;
  body: unknown = undefined;
  bytes = NO_BYTES;
  received = NONE_RECEIVED;
  readonly #ctx: Context;
  readonly #deps: RequestDeps;
  readonly #quota: RouteQuota | undefined;
  /** Read before validation, which drops it if the schema does not name it. */
  readonly #lastEventId: unknown;
  #abortController: AbortController | undefined;
  #address: string | undefined;

  constructor(ctx: Context, parsed: ParsedRequest, deps: RequestDeps) {
    this.method = ctx.method;
    this.path = ctx.path;
    this.params = parsed.params;
    this.headers = parsed.headers;
    this.requestId = parsed.requestId;
    this.idempotencyKey = parsed.idempotencyKey;
    this.ifPosition = parsed.ifPosition;
    this.query = parseQuery(ctx.querystring);
    this.#lastEventId = this.query.lastEventId;
    this.#ctx = ctx;
    this.#deps = deps;
    this.#quota = parsed.quota;
  }

  get address() {
    this.#address ??= this.#deps.clientAddress(this.peer, this.headers['x-forwarded-for']);
    return this.#address;
  }

  get peer() {
    return this.#ctx.req.socket.remoteAddress ?? '';
  }

  get bearer() {
    return bearerOf(this.headers.authorization);
  }

  get basic() {
    return basicOf(this.headers.authorization);
  }

  get cursor() {
    const lastEventId = this.#lastEventId;
    return cursorOf(this.headers['last-event-id'] ?? (lastEventId === undefined ? '' : String(lastEventId)));
  }

  get logger() {
    return withRequestId(this.#deps.logger, this.requestId);
  }

  get signal() {
    this.#abortController ??= abortOnDisconnect(this.#ctx);
    return this.#abortController.signal;
  }

  abort() {
    this.#abortController?.abort();
  }

  /** An arrow function, as handlers destructure it. */
  readonly context = (actor: string, caller: string): CommandContext => {
    const { service, derivation } = this.#deps;
    const { headers, idempotencyKey, method, path } = this;
    const quota = this.#quota;
    const traceparent = traceparentOf(headers.traceparent);
    const common = {
      actor,
      correlationId: this.requestId,
      ...(traceparent ? { traceparent } : {}),
      ...(quota ? { quota: quotaOf(quota, this.address, caller) } : {}),
    };
    if (idempotencyKey === undefined) return { commandId: newCommandId(), ...common };
    return {
      commandId: derivation.id('command', service, method, path, caller, idempotencyKey),
      fingerprint: derivation.secret('fingerprint', fingerprintInput(this.bytes)).toString('base64url'),
      ...common,
    };
  };
}

/** A missing body and an empty object are the same request. */
const fingerprintInput = (bytes: Buffer) => (bytes.length === 0 ? '{}' : bytes.toString('latin1'));

/** Request headers have single values: only the response header `Set-Cookie` is a list. */
export const singleHeaders = (headers: Context['req']['headers']): Request['headers'] => headers as Request['headers'];

const withRequestId = (logger: Logger, requestId: string): Logger => ({
  debug: (fields, message) => logger.debug({ requestId, ...fields }, message),
  info: (fields, message) => logger.info({ requestId, ...fields }, message),
  warn: (fields, message) => logger.warn({ requestId, ...fields }, message),
  error: (fields, message) => logger.error({ requestId, ...fields }, message),
});

function abortOnDisconnect({ res }: Context): AbortController {
  const controller = new AbortController();
  if (res.destroyed) controller.abort();
  res.once('close', () => res.writableFinished || controller.abort());
  return controller;
}
