/** The way of one request through one route: query, admission, body, handler. */
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Context } from 'koa';
import { REQUEST_MS, type Reservation, withDeadline } from '../../../application/concurrency/index.js';
import { isRejection, type Rejection } from '../../../domain/shared/index.js';
import { networkOf } from '../../platform/config/client-address.js';
import { createReader } from '../../realtime/websocket/message-schema.js';
import { upgradeProblem } from '../../realtime/websocket/upgrade.js';
import { createUploadReader, type ReadUpload } from '../upload/upload-reader.js';
import type { Given } from './answer.js';
import { bodyLimitOf, createBodyReader } from './body.js';
import { overBudget } from './budgets.js';
import type { ServicePolicy } from './policy.js';
import { isProblem, type Problem, problem } from './problem.js';
import { createRequest, type RequestDeps } from './request.js';
import type { Route } from './route.js';
import { bodyValidator, queryValidator } from './validate.js';
import type { FieldError } from './validation-message.js';

export type Endpoint = (ctx: Context, params: { [name: string]: string }, requestId: string) => Promise<Given>;

export function createEndpoint(route: Route, policy: ServicePolicy, deps: RequestDeps): Endpoint {
  const { requests, bodies, streams } = deps.budgets;
  const checkQuery = route.query && queryValidator(route.query);
  const checkBody = typeof route.body === 'object' ? bodyValidator(route.body, route.strictBody) : undefined;
  const readBody = route.body && !route.uploads ? createBodyReader(route, deps.after) : undefined;
  const upload = route.uploads && createUploadReader(route.uploads, bodyLimitOf(route), deps.after);
  const conversation = route.socket && {
    perSecond: route.socket.perSecond,
    read: createReader(route.socket.says),
  };
  // Admission and handler together: the client sends its body in between.
  const answerMs = route.answerMs ?? deps.answerMs ?? REQUEST_MS;
  const refuse = (error: FieldError): Problem => policy.invalid?.(error) ?? problem(400, error.message);

  return async (ctx, params, requestId) => {
    const request = createRequest(ctx, params, requestId, deps, route);
    if (isProblem(request)) return request;
    const impossible = upgradeProblem(ctx.req, ctx.res, conversation !== undefined);
    if (impossible) return impossible;

    const network = networkOf(request.address);
    const place = requests.reserve(network);
    const lack = place.acquire(1);
    if (lack) return overBudget(lack);
    let body: Reservation | undefined;
    let uploading: ReadUpload | undefined;
    let working: unknown;
    const started = performance.now();
    const inTime = async <T>(work: Promise<T> | T, spentMs: number): Promise<T> => {
      try {
        return await withDeadline(Math.max(0, answerMs - spentMs), work, 'what the request needs');
      } catch (error) {
        request.giveUp();
        throw error;
      }
    };
    try {
      working = route.admit?.(request);
      // Most are let in at once, with nothing to wait for.
      let caller = working instanceof Promise ? await inTime(working, 0) : working;
      let spentMs = performance.now() - started;
      // Who is not admitted is told nothing else, unless it is for what this very command did when it ran first.
      let refusal = refusalOf(caller);
      const repeated = request.idempotencyKey === undefined ? undefined : route.repeated;
      if (refusal && !repeated) return refusal;

      const wrong = checkQuery?.(request.query);
      if (wrong) return refusal ?? refuse(wrong);

      if (readBody || upload) {
        const name = refusal ? undefined : route.nameOf?.(caller);
        body = (route.budget ?? bodies).reserve(name === undefined ? network : `${network} ${name}`);
        const isThere = ctx.req.complete;
        uploading = upload?.(ctx, body);
        const read = await (uploading ? uploading.read() : readBody!(ctx, body));
        if (isProblem(read)) return refusal ?? read;
        const invalid = checkBody?.(read.json);
        if (invalid) return refusal ?? refuse(invalid);
        request.bytes = read.bytes;
        if (uploading) request.received = uploading.received;
        request.body = route.body === 'bytes' ? read.bytes : read.json;
        // A body may take minutes to come, and who sends it may have been shut out meanwhile.
        if (!isThere && !refusal && route.admit) {
          const since = performance.now() - spentMs;
          working = route.admit(request);
          caller = await inTime(working, spentMs);
          spentMs = performance.now() - since;
          refusal = refusalOf(caller);
          if (refusal && !repeated) return refusal;
        }
      }
      const answering = refusal ? repeated!(request).then((told) => told ?? refusal) : route.handle(request, caller);
      working = answering;
      const answer = await inTime(answering, spentMs);
      const given = 'lasting' in answer ? await answer.lasting() : answer;
      if ('converse' in given) {
        const { read, perSecond } = conversation!;
        const { logger } = request;
        const { after, clock } = deps;
        const held = { place: requests.reserve(network), bytes: bodies.reserve(network) };
        const options = { read, perSecond, ...held, logger, after, clock };
        return beginStream(ctx.req.socket, network) ?? { ...given, options };
      }
      // Of a stream that is only asked about, there are but headers.
      return ('stream' in given && ctx.method !== 'HEAD' && beginStream(ctx.res, network)) || given;
    } finally {
      const over = () => {
        place.release();
        body?.release();
        uploading?.drop().catch((err) => request.logger.warn({ err }, 'an upload was not taken back'));
      };
      // Whoever is answered in its stead has gone: the work has not, nor what it holds.
      Promise.resolve(working).then(over, over);
    }
  };

  /** Or why it can't be, as its network has too many open. */
  function beginStream(until: ServerResponse | Socket, network: string): Problem | undefined {
    const place = streams.reserve(network);
    const lack = place.acquire(1);
    if (lack) return overBudget(lack, STREAM_RETRY_MS);
    if (until.closed) place.release();
    else until.once('close', place.release);
    return undefined;
  }
}

const refusalOf = (caller: unknown): Problem | Rejection | undefined =>
  isProblem(caller) || isRejection(caller) ? caller : undefined;

/** Streams last. */
const STREAM_RETRY_MS = 10_000;
