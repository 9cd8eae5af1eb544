/** Processes a request by a route: admission, query, body, handler. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'koa';
import { REQUEST_MS, type Reservation, withDeadline } from '../../../application/concurrency/index.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { createReader } from '../../realtime/websocket/client-messages.js';
import { upgradeProblem } from '../../realtime/websocket/upgrade.js';
import { createUploadReader, type ReadUpload } from '../upload/upload-reader.js';
import type { RouteResult } from './answer.js';
import { createBodyReader } from './body.js';
import { overBudgetProblem } from './budgets.js';
import { networkOf } from './client-network.js';
import { isProblem, type Problem, problem, type ServicePolicy } from './policy.js';
import { createRequest, type RequestDeps } from './request.js';
import type { Route } from './route.js';
import { bodyValidator, type FieldError, queryValidator } from './validate.js';

export type Endpoint = (ctx: Context, params: { [name: string]: string }, requestId: string) => Promise<RouteResult>;

export function createEndpoint(route: Route, policy: ServicePolicy, deps: RequestDeps): Endpoint {
  const { requests, bodies, streams } = deps.budgets;
  const checkQuery = route.query && queryValidator(route.query);
  const checkBody = typeof route.body === 'object' ? bodyValidator(route.body, route.strictBody) : undefined;
  const readBody = route.body && !route.uploads ? createBodyReader(route, deps.after) : undefined;
  const upload = route.uploads && createUploadReader(route.uploads, route.bodyLimit, deps.after);
  const socketOptions = route.socket && {
    perSecond: route.socket.perSecond,
    read: createReader(route.socket.clientMessages),
  };
  // Deadline of admission and handler together, without the time the client takes to send its body.
  const answerMs = route.answerMs ?? deps.answerMs ?? REQUEST_MS;
  const invalidField = (error: FieldError): Problem => policy.invalid?.(error) ?? problem(400, error.message);

  return async (ctx, params, requestId) => {
    const request = createRequest(ctx, params, requestId, deps, route);
    if (isProblem(request)) return request;
    if (socketOptions || request.headers.upgrade !== undefined) {
      const badUpgrade = upgradeProblem(ctx.req, ctx.res, socketOptions !== undefined);
      if (badUpgrade) return badUpgrade;
    }

    const network = networkOf(request.address);
    const slot = requests.reserve(network);
    const shortage = slot.acquire(1);
    if (shortage) return overBudgetProblem(shortage);
    let bodyBytes: Reservation | undefined;
    let receivedUpload: ReadUpload | undefined;
    let pending: unknown;
    const started = performance.now();
    const withinDeadline = async <T>(work: Promise<T> | T, spentMs: number): Promise<T> => {
      try {
        return await withDeadline(Math.max(0, answerMs - spentMs), work, 'a dependency of the request');
      } catch (error) {
        request.abort();
        throw error;
      }
    };
    try {
      pending = route.admit?.(request);
      // Most admissions are synchronous.
      let caller = pending instanceof Promise ? await withinDeadline(pending, 0) : pending;
      let spentMs = performance.now() - started;
      // An unauthorized caller learns nothing else, except the first result of a repeated command that ended its access.
      let refusal = refusalOf(caller);
      const repeatedResult = request.idempotencyKey === undefined ? undefined : route.previousAnswer;
      if (refusal && !repeatedResult) return refusal;

      const queryError = checkQuery?.(request.query);
      if (queryError) return refusal ?? invalidField(queryError);

      if (readBody || upload) {
        const name = refusal ? undefined : route.callerKey?.(caller);
        bodyBytes = (route.budget ?? bodies).reserve(name === undefined ? network : `${network} ${name}`);
        const hadArrived = ctx.req.complete;
        receivedUpload = upload?.(ctx, bodyBytes);
        const read = await (receivedUpload ? receivedUpload.read() : readBody!(ctx, bodyBytes));
        if (isProblem(read)) return refusal ?? read;
        const bodyError = checkBody?.(read.json);
        if (bodyError) return refusal ?? invalidField(bodyError);
        request.bytes = read.bytes;
        if (receivedUpload) request.received = receivedUpload.received;
        request.body = route.body === 'bytes' ? read.bytes : read.json;
        // A body can take minutes to arrive; access may have been revoked since.
        if (!hadArrived && !refusal && route.admit) {
          const resumedAt = performance.now() - spentMs;
          pending = route.admit(request);
          caller = await withinDeadline(pending, spentMs);
          spentMs = performance.now() - resumedAt;
          refusal = refusalOf(caller);
          if (refusal && !repeatedResult) return refusal;
        }
      }
      const handling = refusal
        ? repeatedResult!(request).then((result) => result ?? refusal)
        : route.handle(request, caller);
      pending = handling;
      const answer = await withinDeadline(handling, spentMs);
      const result = 'finish' in answer ? await answer.finish() : answer;
      if ('converse' in result) {
        const { read, perSecond } = socketOptions!;
        const { logger } = request;
        const { after, clock } = deps;
        const reservations = { place: requests.reserve(network), bytes: bodies.reserve(network) };
        const options = { read, perSecond, ...reservations, logger, after, clock };
        return reserveStream(ctx.req.socket, network) ?? { ...result, options };
      }
      // HEAD of a stream has only headers.
      return ('stream' in result && ctx.method !== 'HEAD' && reserveStream(ctx.res, network)) || result;
    } finally {
      const release = () => {
        slot.release();
        bodyBytes?.release();
        receivedUpload?.drop().catch((err) => request.logger.warn({ err }, 'could not delete an upload'));
      };
      // After a timeout the work goes on and keeps its reservations until it ends.
      Promise.resolve(pending).then(release, release);
    }
  };

  /** Counts an open stream; returns a problem if its network has too many. */
  function reserveStream(connection: ServerResponse | Socket, network: string): Problem | undefined {
    const slot = streams.reserve(network);
    const shortage = slot.acquire(1);
    if (shortage) return overBudgetProblem(shortage, STREAM_RETRY_MS);
    if (connection.closed) slot.release();
    else connection.once('close', slot.release);
    return undefined;
  }
}

const refusalOf = (caller: unknown): Problem | Rejection | undefined =>
  isProblem(caller) || isRejection(caller) ? caller : undefined;

/** Suggested delay before another stream is opened: streams stay open long. */
const STREAM_RETRY_MS = 10_000;
