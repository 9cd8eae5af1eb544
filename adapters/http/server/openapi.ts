/** Generates the OpenAPI 3.1 document of a service from its routes. */
import { STATUS_CODES } from 'node:http';
import type { JsonSchema } from '../../../domain/shared/index.js';
import type { ServicePolicy } from './policy.js';
import type { AnswerDoc, Route } from './route.js';

export type OpenApiDocument = { readonly [member: string]: unknown };

export function openapi(policy: ServicePolicy, routes: readonly Route[]): OpenApiDocument {
  const { title, version, description, securitySchemes } = policy;
  const paths: { [path: string]: { [method: string]: unknown } } = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, path, policy) };
  }
  return {
    openapi: '3.1.0',
    info: { title, version, ...(description ? { description } : {}) },
    servers: [{ url: '/' }],
    paths,
    components: {
      schemas: { Error: policy.errorSchema ?? ERROR },
      responses: RESPONSES,
      headers: HEADERS,
      parameters: PARAMETERS,
      ...(securitySchemes ? { securitySchemes } : {}),
    },
  };
}

/** Serves the document as a route of the service, wrapped by `guard` like the others, and included in the document. */
export function openapiRoute(policy: ServicePolicy, routes: readonly Route[], guard = (route: Route) => route): Route {
  const guarded = guard({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1', schema: { type: 'object' } } },
    handle: () => ({ status: 200, body: openapi(policy, [...routes, guarded]) }),
  });
  return guarded;
}

function operation(route: Route, path: string, policy: ServicePolicy) {
  const { summary, description, tags, security, method } = route;
  const command = method !== 'GET';
  const schemes = [security ?? []].flat();
  return {
    operationId: operationId(method, path),
    summary,
    ...(description ? { description } : {}),
    ...(tags ? { tags } : {}),
    ...(route.socket
      ? { 'x-websocket': { says: route.socket.clientMessages, hears: route.socket.serverMessages } }
      : {}),
    ...(schemes.length > 0 ? { security: schemes.map((scheme) => ({ [scheme]: [] })) } : {}),
    parameters: [
      ...[...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
        name,
        in: 'path',
        required: true,
        schema: { type: 'string' },
      })),
      ...queryParameters(route.query),
      { $ref: `#/components/parameters/${command ? 'IdempotencyKey' : 'IfPosition'}` },
      { $ref: '#/components/parameters/RequestId' },
    ],
    ...requestBody(route),
    responses: responses(route, policy),
  };
}

function queryParameters(query: JsonSchema | undefined) {
  const properties = (query?.properties ?? {}) as { readonly [name: string]: JsonSchema };
  const required = (query?.required ?? []) as readonly string[];
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    ...(description ? { description } : {}),
    schema,
  }));
}

function requestBody({ body, bodyTypes = ['*/*'], examples = {} }: Route) {
  const of = (type: string, schema: JsonSchema) => [
    type,
    { schema, ...(type in examples ? { example: examples[type] } : {}) },
  ];
  if (body === 'bytes') {
    const content = bodyTypes.map((type) => of(type, type.endsWith('json') ? {} : { type: 'string' }));
    return { requestBody: { content: Object.fromEntries(content) } };
  }
  if (!body) return {};
  const required = Array.isArray(body.required) && body.required.length > 0;
  const content = Object.fromEntries([of('application/json', body)]);
  return { requestBody: { required, content } };
}

/** Errors of the pipeline are derived from the route; errors of the domain are declared by it. */
function responses(route: Route, { guard }: ServicePolicy) {
  const takesBody = route.body;
  const pipeline = [
    // Invalid headers are rejected on all routes.
    '400',
    ...(route.admit && [route.security ?? []].flat().length > 0 ? ['401'] : []),
    ...(guard ? ['403'] : []),
    // A path parameter may be an invalid escape.
    ...(route.path.includes(':') ? ['404'] : []),
    ...(takesBody ? ['408', '413', '415'] : []),
    ...(takesBody && route.method !== 'GET' ? ['422'] : []),
    ...(route.socket ? ['426'] : []),
    '429',
    '500',
    '503',
  ].map((status) => [status, { $ref: `#/components/responses/${status}` }]);
  const own = {
    ...(route.socket && {
      101: { description: 'The WebSocket is open; `x-websocket` describes its messages' },
    }),
    ...(route.quota && { 429: route.quota }),
    ...route.answers,
  };
  const answers = Object.entries(own).map(([status, answer]) => [status, response(status, answer)]);
  return Object.fromEntries([...pipeline, ...answers]);
}

function response(status: string, { description, schema, type }: AnswerDoc) {
  const isError = Number(status) >= 400;
  const of = schema ?? (isError ? ERROR_REF : type ? { type: 'string' } : undefined);
  return {
    description,
    headers: headersOf(Number(status)),
    ...(of ? { content: { [type ?? 'application/json']: { schema: of } } } : {}),
  };
}

function headersOf(status: number) {
  const names = ['X-Request-Id']
    .concat(status < 400 ? ['Position', 'Consistency'] : [])
    .concat(status === 401 ? ['WWW-Authenticate'] : [])
    .concat(status === 429 || status === 503 ? ['Retry-After'] : []);
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** `POST /rooms/{roomId}/invites` becomes `postRoomsByRoomIdInvites`. */
function operationId(method: string, path: string): string {
  const words = path
    .replaceAll('{', 'by/')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
}

const ERROR_REF = { $ref: '#/components/schemas/Error' };

const ERROR: JsonSchema = {
  type: 'object',
  required: ['error'],
  properties: { error: { type: 'string', description: 'What is wrong, for people' } },
};

const errorResponse = (status: number, description = STATUS_CODES[status]) => ({
  description,
  headers: headersOf(status),
  content: { 'application/json': { schema: ERROR_REF } },
});

const RESPONSES = {
  400: errorResponse(400, 'Something in the request is missing or wrong'),
  401: errorResponse(401, 'The credentials are missing or wrong'),
  403: errorResponse(403, 'Not allowed for these credentials, this Host or this Origin'),
  404: errorResponse(404, 'There is nothing at this path'),
  408: errorResponse(408, 'The body arrived too slowly'),
  413: errorResponse(413, 'The body is too large'),
  415: errorResponse(415, 'The content type or encoding of the body is not supported'),
  422: errorResponse(422, 'The Idempotency-Key was used before with another body'),
  426: errorResponse(426, 'This route requires a WebSocket upgrade'),
  429: errorResponse(429, 'Too many requests, or too much data in progress'),
  500: errorResponse(500, 'Internal error; see the log by the request id'),
  503: errorResponse(503, 'Temporarily unavailable; the same request may be sent again'),
};

const text = { type: 'string' };

const HEADERS = {
  'X-Request-Id': { description: 'Identifies this request in the log', schema: text },
  Position: { description: 'Log position that the response reflects', schema: text },
  Consistency: {
    description: 'Sent when the read models did not catch up with the position in time',
    schema: { type: 'string', const: 'pending' },
  },
  'WWW-Authenticate': { description: 'How to sign in', schema: text },
  'Retry-After': { description: 'Seconds after which a retry can succeed', schema: { type: 'integer' } },
};

const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'A request repeated with the same key returns the first result, without a second effect',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfPosition: {
    name: 'If-Position',
    in: 'header',
    description: 'A `Position` that the response must reflect',
    schema: text,
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Request id for the log; generated if missing, and returned',
    schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
  },
};
