/** Makes the `Request` of the routes from koa's context; what few routes ask for is worked out when asked. */
import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import type { Clock, CommandContext, Derivation, Logger, Position } from '../../../application/ports.js';
import type { After } from '../../system/after.js';
import type { Budgets } from './budgets.js';
import { basicOf, bearerOf, cursorOf, idempotencyKeyOf, ifPositionOf, traceparentOf } from './headers.js';
import { quotaOf, type RouteQuota } from './limit.js';
import { isProblem, type Problem } from './problem.js';
import { parseQuery } from './query.js';
import type { Request } from './route.js';
import type { ReceivedMembers } from './upload/uploads.js';

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

export function createRequest(
  ctx: Context,
  params: Request['params'],
  requestId: string,
  { service, derivation, logger, clientAddress }: RequestDeps,
  { quota, socket }: { readonly quota?: RouteQuota; readonly socket?: object },
): PendingRequest | Problem {
  const { req, method, path } = ctx;
  const headers = singleHeaders(req.headers);
  // What is said over a WebSocket are commands of their own, each.
  const idempotencyKey = socket ? undefined : idempotencyKeyOf(headers['idempotency-key']);
  if (isProblem(idempotencyKey)) return idempotencyKey;
  const ifPosition = ifPositionOf(headers['if-position']);
  if (isProblem(ifPosition)) return ifPosition;
  const query = parseQuery(ctx.querystring);
  // Taken now: the route's schema may not name it, and would drop it.
  const { lastEventId } = query;
  let leaving: AbortController | undefined;
  let address: string | undefined;

  const request: PendingRequest = {
    method,
    path,
    params,
    query,
    headers,
    requestId,
    body: undefined,
    bytes: NO_BYTES,
    received: NONE_RECEIVED,
    ...defined({ idempotencyKey, ifPosition }),
    get address() {
      address ??= clientAddress(request.peer, headers['x-forwarded-for']);
      return address;
    },
    get peer() {
      return req.socket.remoteAddress ?? '';
    },
    get bearer() {
      return bearerOf(headers.authorization);
    },
    get basic() {
      return basicOf(headers.authorization);
    },
    get cursor() {
      return cursorOf(headers['last-event-id'] ?? (lastEventId === undefined ? '' : String(lastEventId)));
    },
    get logger() {
      return withRequestId(logger, requestId);
    },
    get signal() {
      leaving ??= abortedWhenGone(ctx);
      return leaving.signal;
    },
    giveUp: () => leaving?.abort(),
    context(actor, caller): CommandContext {
      const traceparent = traceparentOf(headers.traceparent);
      const common = {
        actor,
        correlationId: requestId,
        ...(traceparent ? { traceparent } : {}),
        ...(quota ? { quota: quotaOf(quota, request.address, caller) } : {}),
      };
      if (idempotencyKey === undefined) return { commandId: randomUUID(), ...common };
      return {
        commandId: derivation.id('command', service, method, path, caller, idempotencyKey),
        fingerprint: derivation.secret('fingerprint', fingerprinted(request.bytes)).toString('base64url'),
        ...common,
      };
    },
  };
  return request;
}

const NO_BYTES = Buffer.alloc(0);
const NONE_RECEIVED: ReceivedMembers = new Map();

/** No body and an empty object are the same request. */
const fingerprinted = (bytes: Buffer) => (bytes.length === 0 ? '{}' : bytes.toString('latin1'));

/** Only `Set-Cookie` comes as a list, and that is none of a request's. */
export const singleHeaders = (headers: Context['req']['headers']): Request['headers'] =>
  headers as Request['headers'];

function defined(values: { idempotencyKey: string | undefined; ifPosition: Position | undefined }) {
  const { idempotencyKey, ifPosition } = values;
  return {
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
    ...(ifPosition === undefined ? {} : { ifPosition }),
  };
}

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
