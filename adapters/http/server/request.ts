/** Makes the `Request` of the routes from koa's context; what few routes ask for is worked out when asked. */
import type { Context } from 'koa';
import { newCommandId } from '../../../application/command/index.js';
import type { Clock, CommandContext, Derivation, Logger, Position } from '../../../application/ports/index.js';
import type { After } from '../../platform/process/timer.js';
import { basicOf, bearerOf, cursorOf, idempotencyKeyOf, ifPositionOf, traceparentOf } from '../security/headers.js';
import type { ReceivedMembers } from '../upload/upload-spec.js';
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
  /** How long admission and handler of a request may take together, ms, unless its route says so. */
  readonly answerMs?: number;
  /** The time that bodies have to come in; default the real one. */
  readonly after?: After;
  /** That the messages of WebSockets are counted in: one that only ever goes on. */
  readonly clock?: Clock;
}

type Query = { readonly [name: string]: unknown };

/** Body and bytes come later than the rest: `admit` runs in between. */
export interface PendingRequest extends Request<unknown, Query> {
  query: Query;
  body: unknown;
  /** The body as it came, or a digest of it, for telling a repeated request from another one. */
  bytes: Buffer;
  received: ReceivedMembers;
  /** Aborts the signal: another answer is given than the one that is still worked on. */
  giveUp(): void;
}

const NO_BYTES = Buffer.alloc(0);
const NONE_RECEIVED: ReceivedMembers = new Map();

export function createRequest(
  ctx: Context,
  params: Request['params'],
  requestId: string,
  deps: RequestDeps,
  { quota, socket }: { readonly quota?: RouteQuota; readonly socket?: object },
): PendingRequest | Problem {
  const headers = singleHeaders(ctx.req.headers);
  // What is said over a WebSocket are commands of their own, each.
  const idempotencyKey = socket ? undefined : idempotencyKeyOf(headers['idempotency-key']);
  if (isProblem(idempotencyKey)) return idempotencyKey;
  const ifPosition = ifPositionOf(headers['if-position']);
  if (isProblem(ifPosition)) return ifPosition;
  return new Pending(ctx, { params, requestId, headers, idempotencyKey, ifPosition, quota }, deps);
}

interface Found extends Pick<Request, 'params' | 'requestId' | 'headers' | 'idempotencyKey' | 'ifPosition'> {
  readonly quota: RouteQuota | undefined;
}

/** A class, as one is made for every request: an object with as many getters of its own takes several times as long. */
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
  /** Taken when it came: the route's schema may not name it, and would drop it. */
  readonly #lastEventId: unknown;
  #leaving: AbortController | undefined;
  #address: string | undefined;

  constructor(ctx: Context, found: Found, deps: RequestDeps) {
    this.method = ctx.method;
    this.path = ctx.path;
    this.params = found.params;
    this.headers = found.headers;
    this.requestId = found.requestId;
    this.idempotencyKey = found.idempotencyKey;
    this.ifPosition = found.ifPosition;
    this.query = parseQuery(ctx.querystring);
    this.#lastEventId = this.query.lastEventId;
    this.#ctx = ctx;
    this.#deps = deps;
    this.#quota = found.quota;
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
    this.#leaving ??= abortedWhenGone(this.#ctx);
    return this.#leaving.signal;
  }

  giveUp() {
    this.#leaving?.abort();
  }

  /** Handlers take it out of the request. */
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
      fingerprint: derivation.secret('fingerprint', fingerprinted(this.bytes)).toString('base64url'),
      ...common,
    };
  };
}

/** No body and an empty object are the same request. */
const fingerprinted = (bytes: Buffer) => (bytes.length === 0 ? '{}' : bytes.toString('latin1'));

/** Only `Set-Cookie` comes as a list, and that is none of a request's. */
export const singleHeaders = (headers: Context['req']['headers']): Request['headers'] => headers as Request['headers'];

const withRequestId = (logger: Logger, requestId: string): Logger => ({
  debug: (fields, message) => logger.debug({ requestId, ...fields }, message),
  info: (fields, message) => logger.info({ requestId, ...fields }, message),
  warn: (fields, message) => logger.warn({ requestId, ...fields }, message),
  error: (fields, message) => logger.error({ requestId, ...fields }, message),
});

function abortedWhenGone({ res }: Context): AbortController {
  const controller = new AbortController();
  if (res.destroyed) controller.abort();
  res.once('close', () => res.writableFinished || controller.abort());
  return controller;
}
