/** The way of one request through one route: query, admission, body, handler. */
import type { Context } from 'koa';
import { REQUEST_MS, within } from '../../application/within.js';
import { isRejection } from '../../domain/shared/decider.js';
import { networkOf } from '../system/client-address.js';
import { createBodyReader } from './body.js';
import { hold } from './held.js';
import type { FieldError } from './invalid.js';
import type { ServicePolicy } from './policy.js';
import { isProblem, type Problem, problem } from './problem.js';
import { createRequest, type RequestDeps } from './request.js';
import type { Answer, Route } from './route.js';
import { bodyValidator, queryValidator } from './validate.js';

export type Endpoint = (
  ctx: Context,
  params: { [name: string]: string },
  requestId: string,
) => Promise<Answer>;

/** Compiles the route's schemas; throws on a wrong schema, at start. */
export function createEndpoint(route: Route, policy: ServicePolicy, deps: RequestDeps): Endpoint {
  const checkQuery = route.query && queryValidator(route.query);
  const checkBody = route.body && bodyValidator(route.body, route.strictBody);
  const readBody = route.body || route.rawBody ? createBodyReader(route, deps.after) : undefined;
  // Admission and handler together: the client sends its body in between.
  const answerMs = route.answerMs ?? deps.answerMs ?? REQUEST_MS;
  const refuse = (error: FieldError): Problem => policy.invalid?.(error) ?? problem(400, error.message);

  return async (ctx, params, requestId) => {
    const request = createRequest(ctx, params, requestId, deps, route.quota);
    if (isProblem(request)) return request;

    const started = performance.now();
    const inTime = async <T>(work: Promise<T> | T, spentMs: number): Promise<T> => {
      try {
        return await within(Math.max(0, answerMs - spentMs), work, 'what the request needs');
      } catch (error) {
        request.giveUp();
        throw error;
      }
    };
    const caller = route.admit ? await inTime(route.admit(request), 0) : undefined;
    const admittedMs = performance.now() - started;
    // Who is not admitted is told nothing else, unless it is for what this very command did when it ran first.
    const refusal = isProblem(caller) || isRejection(caller) ? caller : undefined;
    const repeated = request.idempotencyKey === undefined ? undefined : route.repeated;
    if (refusal && !repeated) return refusal;

    const wrong = checkQuery?.(request.query);
    if (wrong) return refusal ?? refuse(wrong);

    const name = refusal ? '' : route.nameOf?.(caller);
    const whose = route.room ? `${networkOf(request.address)} ${name ?? ''}` : '';
    const held = hold(route.room, whose);
    let working: unknown;
    try {
      if (readBody) {
        const read = await readBody(ctx, held);
        if (isProblem(read)) return refusal ?? read;
        const invalid = checkBody?.(read.json);
        if (invalid) return refusal ?? refuse(invalid);
        request.bytes = read.bytes;
        request.body = route.rawBody ? read.bytes : read.json;
      }
      const answering = refusal
        ? repeated!(request).then((told) => told ?? refusal)
        : route.handle(request, caller);
      working = answering;
      const answer = await inTime(answering, admittedMs);
      return 'lasting' in answer ? await answer.lasting() : answer;
    } finally {
      // Whoever is answered in its stead has gone: the work has not, nor what it holds.
      Promise.resolve(working).then(held.release, held.release);
    }
  };
}
