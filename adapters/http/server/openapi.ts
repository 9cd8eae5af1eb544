/** The OpenAPI 3.1 document of a service, made of the same routes that answer. */
import { STATUS_CODES } from 'node:http';
import type { JsonSchema } from '../../../domain/shared/index.js';
import type { ServicePolicy } from './policy.js';
import type { AnswerDoc, Route } from './route.js';

export type OpenApiDocument = { readonly [member: string]: unknown };

/** `servers` are addresses the service is reached under. */
export function openapi(
  policy: ServicePolicy,
  routes: readonly Route[],
  servers: readonly string[] = ['/'],
): OpenApiDocument {
  const { title, version, description, securitySchemes } = policy;
  const paths: { [path: string]: { [method: string]: unknown } } = {};
  for (const route of routes) {
    const path = route.path.replaceAll(/:(\w+)/g, '{$1}');
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, path, policy) };
  }
  return {
    openapi: '3.1.0',
    info: { title, version, ...(description ? { description } : {}) },
    servers: servers.map((url) => ({ url })),
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

/** The document as a route of its own service, `guard`ed like the others. The document names this route too. */
export function openapiRoute(policy: ServicePolicy, routes: readonly Route[], guard = (route: Route) => route): Route {
  const route = guard({
    method: 'GET',
    path: '/openapi.json',
    summary: 'This document',
    answers: { 200: { description: 'OpenAPI 3.1', schema: { type: 'object' } } },
    handle: () => ({ status: 200, body: document() }),
  });
  let made: OpenApiDocument | undefined;
  const document = () => {
    made ??= openapi(policy, [...routes, route]);
    return made;
  };
  return route;
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
    ...(route.socket ? { 'x-websocket': { says: route.socket.says, hears: route.socket.hears } } : {}),
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

/** The errors of the kernel follow from what a route takes; those of its rules it names itself. */
function responses(route: Route, { guard }: ServicePolicy) {
  const takesBody = route.body;
  const kernel = [
    // A header that is wrong is refused everywhere.
    '400',
    ...([route.security ?? []].flat().length > 0 ? ['401'] : []),
    ...(guard ? ['403'] : []),
    // What stands in a path may be no text.
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
      101: { description: 'The WebSocket is open: `x-websocket` says what is said on it' },
    }),
    ...(route.quota && { 429: route.quota }),
    ...route.answers,
  };
  const answers = Object.entries(own).map(([status, answer]) => [status, response(status, answer)]);
  return Object.fromEntries([...kernel, ...answers]);
}

function response(status: string, { description, schema, type }: AnswerDoc) {
  const failed = Number(status) >= 400;
  const of = schema ?? (failed ? ERROR_REF : type ? { type: 'string' } : undefined);
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
  404: errorResponse(404, 'There is nothing of this path'),
  408: errorResponse(408, 'The body came too slowly, or stalled'),
  413: errorResponse(413, 'The body is too large'),
  415: errorResponse(415, 'The body is of another content type or encoding'),
  422: errorResponse(422, 'The Idempotency-Key was used before with another body'),
  426: errorResponse(426, 'This is a WebSocket'),
  429: errorResponse(429, 'Too much of yours is under way'),
  500: errorResponse(500, 'Our fault; the log has more under the request id'),
  503: errorResponse(503, 'Temporarily unavailable; the same request may be sent again'),
};

const text = { type: 'string' };

const HEADERS = {
  'X-Request-Id': { description: 'Names this request in the log', schema: text },
  Position: { description: 'Position of the log that the answer reflects', schema: text },
  Consistency: {
    description: 'Sent when the read models had not caught up with the position in time',
    schema: { type: 'string', const: 'pending' },
  },
  'WWW-Authenticate': { description: 'How to sign in', schema: text },
  'Retry-After': { description: 'Seconds after which a retry can succeed', schema: { type: 'integer' } },
};

const PARAMETERS = {
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description: 'With the same key a repeated request gets the first outcome, without a second effect',
    schema: { type: 'string', minLength: 1, maxLength: 255 },
  },
  IfPosition: {
    name: 'If-Position',
    in: 'header',
    description: 'A `Position` seen elsewhere that the answer must reflect',
    schema: text,
  },
  RequestId: {
    name: 'X-Request-Id',
    in: 'header',
    description: 'Taken over, and returned; made if missing',
    schema: { type: 'string', pattern: '^[\\w.:-]{1,128}$' },
  },
};
