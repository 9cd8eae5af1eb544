/** Common properties of all routes of a service: name, CORS, headers and error format. */
import type { JsonSchema, Rejection } from '../../../domain/shared/index.js';
import type { Cors } from '../security/cors.js';
import type { Problem } from './problem.js';
import type { FieldError } from './validation-message.js';

/** The part of a request that guards check: which page sent it, and to which host. */
export interface GuardedRequest {
  readonly method: string;
  /** By lower-case name. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** Local address of the connection. */
  readonly localAddress: string | undefined;
}

/** Returns a problem if a request is rejected regardless of its route. */
export type Guard = (request: GuardedRequest) => Problem | undefined;

export interface ServicePolicy {
  /** Name of the service in one word: metric label, log field, part of derived command ids. */
  readonly service: string;
  readonly title: string;
  readonly description?: string;
  readonly version: string;
  readonly cors: Cors;
  /** Runs before everything else, also for preflights. */
  readonly guard?: Guard | undefined;
  /** Sent with every response, also errors. */
  readonly headers?: { readonly [name: string]: string };
  /** Default: `{error}`. */
  readonly errorBody?: (problem: Problem) => object;
  readonly errorSchema?: JsonSchema;
  /** Maps a rejection to a problem of the service. Default: `fromRejection`. */
  readonly rejected?: (rejection: Rejection) => Problem;
  /** Maps an invalid field to a problem. Default: 400 with `error.message`. */
  readonly invalid?: (error: FieldError) => Problem | undefined;
  /** OpenAPI security schemes by name, for `Route.security`. */
  readonly securitySchemes?: { readonly [name: string]: JsonSchema };
}
