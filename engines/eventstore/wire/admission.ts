/** Who may call: those who show the engine's secret as the name of their connection, which the driver sends along. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http2';
import { GrpcError, Status } from './status.js';

export interface Admission {
  /** Whether a call comes with the secret. */
  knows(headers: IncomingHttpHeaders): boolean;
  /** What a call without it is answered, unless anybody may make it. */
  refuse(headers: IncomingHttpHeaders): GrpcError | undefined;
}

/** The parameter of a connection string that makes the driver send the secret. */
export const secretParameter = (secret: string): string => `connectionName=${encodeURIComponent(secret)}`;

/** `open` are the methods, by their full paths, that the driver calls without its name. */
export function admitBySecret(secret: string, open: ReadonlySet<string>): Admission {
  const expected = Buffer.from(secret);
  return {
    knows(headers) {
      const shown = Buffer.from(String(headers['connection-name'] ?? ''));
      return shown.length === expected.length && timingSafeEqual(shown, expected);
    },
    refuse: (headers) =>
      open.has(headers[':path'] ?? '')
        ? undefined
        : new GrpcError(Status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' }),
  };
}
