/** gRPC status codes used by the engine, and an error that carries one. */

export const Status = {
  OK: 0,
  CANCELLED: 1,
  UNKNOWN: 2,
  INVALID_ARGUMENT: 3,
  DEADLINE_EXCEEDED: 4,
  NOT_FOUND: 5,
  PERMISSION_DENIED: 7,
  RESOURCE_EXHAUSTED: 8,
  FAILED_PRECONDITION: 9,
  UNIMPLEMENTED: 12,
  INTERNAL: 13,
  UNAVAILABLE: 14,
  DATA_LOSS: 15,
} as const;

export class GrpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    /** Sent as trailers beside the status. */
    readonly metadata: Readonly<Record<string, string>> = {},
  ) {
    super(message);
  }
}
