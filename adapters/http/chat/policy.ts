/** The policy of the chat service: headers, CORS and errors. */
import {
  COMMON_ANSWER_HEADERS,
  COMMON_REQUEST_HEADERS,
  cors,
  PRIVATE_HEADERS,
  type ServicePolicy,
} from '../server/policy.js';

export const chatPolicy = (version: string, allowedOrigins: readonly string[]): ServicePolicy => ({
  service: 'chat',
  title: 'Team chat',
  description:
    'Sign-in, users, channels with messages and threads, direct messages. Times are Unix milliseconds. Most routes need ' +
    'the access token of a sign-in as a bearer token; it ends with its session, and `POST /auth/refresh` returns a new one.',
  version,
  cors: cors({
    origins: allowedOrigins,
    methods: ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'],
    headers: COMMON_REQUEST_HEADERS,
    expose: COMMON_ANSWER_HEADERS,
  }),
  headers: PRIVATE_HEADERS,
  securitySchemes: {
    link: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token of a link' },
    access: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The access token' },
    webhook: { type: 'http', scheme: 'bearer', description: 'The token of the webhook' },
  },
});
