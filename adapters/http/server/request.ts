/** Creates the `Request` of routes from koa's context: parses the headers and the query, all of them untrusted. */
import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import { newCommandId } from '../../../application/command/index.js';
import type { After } from '../../../application/concurrency/index.js';
import type { Clock, CommandContext, Derivation, Logger, Position } from '../../../application/ports/index.js';
import type { Budgets } from './budgets.js';
import { quotaOf, type RouteQuota } from './client-network.js';
import { isProblem, type Problem, problem } from './policy.js';
import type { ReceivedBlobs, Request } from './route.js';

export interface RequestDeps {
  readonly service: string;
  readonly derivation: Derivation;
  readonly logger: Logger;
  readonly clientAddress: (socketAddress: string, forwardedFor: string | undefined) => string;
  readonly budgets: Budgets;
  /** Deadline of admission and handler together in ms, unless the route sets its own. */
  readonly answerMs?: number;
  readonly after?: After;
  readonly clock?: Clock;
}

type Query = { readonly [name: string]: unknown };

const NO_BYTES: Buffer = Buffer.alloc(0);
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
  return new PendingRequest(params, requestId, headers, idempotencyKey, ifPosition, ctx, deps, quota);
}

/** A request whose body is set after `admit`. A class: an object literal with these getters is several times slower. */
export class PendingRequest implements Request<unknown, Query> {
  readonly method: string;
  readonly path: string;
  query: Query;
  body: unknown = undefined;
  /** The raw body or its digest, to compare repeated requests. */
  bytes = NO_BYTES;
  received = NONE_RECEIVED;
  readonly #ctx: Context;
  readonly #deps: RequestDeps;
  readonly #quota: RouteQuota | undefined;
  /** Read before validation, which drops it if the schema does not name it. */
  readonly #lastEventId: unknown;
  #abortController: AbortController | undefined;
  #address: string | undefined;

  constructor(
    readonly params: Request['params'],
    readonly requestId: string,
    readonly headers: Request['headers'],
    readonly idempotencyKey: string | undefined,
    readonly ifPosition: Position | undefined,
    ctx: Context,
    deps: RequestDeps,
    quota: RouteQuota | undefined,
  ) {
    this.method = ctx.method;
    this.path = ctx.path;
    this.query = parseQuery(ctx.querystring);
    this.#lastEventId = this.query.lastEventId;
    this.#ctx = ctx;
    this.#deps = deps;
    this.#quota = quota;
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

  /** Aborts the signal after a timeout, when the pending work is no longer needed. */
  abort() {
    this.#abortController?.abort();
  }

  /** An arrow function, as handlers destructure it. */
  readonly context = (actor: string, caller: string): CommandContext => {
    const { service, derivation } = this.#deps;
    const { headers, idempotencyKey, method, path } = this;
    const common = {
      actor,
      correlationId: this.requestId,
      traceparent: traceparentOf(headers.traceparent),
      quota: this.#quota && quotaOf(this.#quota, this.address, caller),
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

/** Repeated names become a list, which only list schemas accept. */
function parseQuery(text: string): { [name: string]: unknown } {
  // Without a prototype, so that `__proto__` is an ordinary name.
  const query: { [name: string]: unknown } = Object.create(null);
  if (text === '') return query;
  for (const [name, value] of new URLSearchParams(text)) {
    const previous = query[name];
    if (previous === undefined) query[name] = value;
    else if (Array.isArray(previous)) previous.push(value);
    else query[name] = [previous, value];
  }
  return query;
}

/** The client's request id if it is safe to log, otherwise a new one. */
export const requestIdOf = (value: string | undefined): string =>
  value !== undefined && /^[\w.:-]{1,128}$/.test(value) ? value : randomUUID();

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^bearer +(\S+) *$/i.exec(authorization ?? '')?.[1];

function basicOf(authorization: string | undefined) {
  const encoded = /^basic +([A-Za-z0-9+/_-]+={0,2}) *$/i.exec(authorization ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const bytes = Buffer.from(encoded, 'base64');
  // The challenge requests UTF-8 (RFC 7617), but `btoa` in pages encodes Latin-1.
  const decoded = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1');
  const colon = decoded.indexOf(':');
  if (colon < 0) return undefined;
  return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) };
}

/** Only in the W3C format, version 00. */
export const traceparentOf = (value: string | undefined): string | undefined =>
  value !== undefined && /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(value) ? value : undefined;

/** Rejects invalid positions, as the requested consistency can't be guaranteed. */
function ifPositionOf(value: string | undefined): Position | Problem | undefined {
  if (value === undefined) return undefined;
  return toPosition(value) ?? problem(400, 'If-Position is invalid');
}

function idempotencyKeyOf(value: string | undefined): string | Problem | undefined {
  if (value === undefined || /^[\x20-\x7e]{1,255}$/.test(value)) return value;
  return problem(400, 'Idempotency-Key is invalid: 1 to 255 printable characters');
}

/** Resume position of a stream. Invalid values count as too old to resume from. */
function cursorOf(lastEventId: string | undefined): Position | undefined {
  if (!lastEventId) return undefined;
  return toPosition(lastEventId) ?? -1n;
}

function toPosition(text: string): Position | undefined {
  const position = /^\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return position !== undefined && position < 2n ** 63n ? position : undefined;
}

const NO_HOST = problem(400, 'The Host header is missing');
const SEVERAL_HOSTS = problem(400, 'The request has more than one Host header');
const NO_TARGET = problem(400, 'The target of the request is invalid');

/** Finds an invalid target, and a missing or ambiguous host, which node's parser accepts. */
export function findMalformation(ctx: Context): Problem | undefined {
  if (!isReadable(ctx)) return NO_TARGET;
  const { httpVersion, headers, rawHeaders } = ctx.req;
  // HTTP/1.0 has no Host. Later versions require exactly one: proxies disagree on which of two counts.
  if (headers.host === undefined) return httpVersion === '1.0' ? undefined : NO_HOST;
  return countHeaders('host', rawHeaders) > 1 ? SEVERAL_HOSTS : undefined;
}

/** `rawHeaders` alternates names and values. Allocates nothing, as it runs for every request. */
function countHeaders(name: string, rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const each = rawHeaders[index]!;
    if (each.length === name.length && each.toLowerCase() === name) count++;
  }
  return count;
}

/** The host a request is for. An absolute target, as sent to proxies, takes precedence (RFC 9112, 3.2.2). */
export function hostOf({ url = '', headers }: Context['req']): string | undefined {
  if (url.startsWith('/')) return headers.host;
  return /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i.exec(url)?.[1] ?? headers.host;
}

/** An absolute target may be an invalid URL or have no path (`http://`); koa throws only when it is accessed. */
function isReadable(ctx: Context): boolean {
  try {
    return typeof ctx.path === 'string';
  } catch {
    return false;
  }
}
