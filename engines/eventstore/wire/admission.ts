/** Authenticates calls by the engine's secret, which the driver sends as its connection name. */
import { timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http2';
import { GrpcError, Status } from './status.js';

export interface Admission {
  /** True if the call presents the secret. */
  isAuthenticated(headers: IncomingHttpHeaders): boolean;
  /** Error for a call without the secret; undefined if the method is public. */
  refuse(headers: IncomingHttpHeaders): GrpcError | undefined;
}

/** Connection string parameter that makes the driver send the secret. */
export const secretParameter = (secret: string): string => `connectionName=${encodeURIComponent(secret)}`;

/**
 * Creates an admission by secret.
 * @param open Full path of the method that the driver calls without its connection name.
 */
export function admitBySecret(secret: string, open: string): Admission {
  const expected = Buffer.from(secret);
  return {
    isAuthenticated(headers) {
      const presented = Buffer.from(String(headers['connection-name'] ?? ''));
      return presented.length === expected.length && timingSafeEqual(presented, expected);
    },
    refuse: (headers) =>
      headers[':path'] === open
        ? undefined
        : new GrpcError(Status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' }),
  };
}
