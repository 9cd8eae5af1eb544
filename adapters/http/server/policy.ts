/** What is the same for all routes of one service, as plain data: its name, CORS, headers, and how it words errors. */
import type { JsonSchema, Rejection } from '../../../domain/shared/index.js';
import type { Cors } from '../security/cors.js';
import type { Problem } from './problem.js';
import type { FieldError } from './validation-message.js';

/** What a request says about the page that made it and about whom it is meant for. */
export interface Addressed {
  readonly method: string;
  /** Lower-case names, as node gives them. */
  readonly headers: { readonly [name: string]: string | undefined };
  /** The address of this machine that the request came in on. */
  readonly localAddress: string | undefined;
}

/** Why a request is refused whatever it asks for. */
export type Guard = (request: Addressed) => Problem | undefined;

export interface ServicePolicy {
  /** The service's one word: metric label, log field, part of derived command ids. */
  readonly service: string;
  readonly title: string;
  readonly description?: string;
  readonly version: string;
  readonly cors: Cors;
  /** Comes before everything else, preflights included. */
  readonly guard?: Guard | undefined;
  /** Sent with every answer, errors included. */
  readonly headers?: { readonly [name: string]: string };
  /** Default `{error}`. */
  readonly errorBody?: (problem: Problem) => object;
  readonly errorSchema?: JsonSchema;
  /** A rejection in the words of the service, its status by its kind; default `fromRejection`. */
  readonly rejected?: (rejection: Rejection) => Problem;
  /** Another answer to a wrong field than 400 with `error.message`. */
  readonly invalid?: (error: FieldError) => Problem | undefined;
  /** OpenAPI security schemes by name, for `Route.security`. */
  readonly securitySchemes?: { readonly [name: string]: JsonSchema };
}
