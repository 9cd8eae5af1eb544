/** Errors with the real server's codes, as sent to clients. */
import { typeName, type Value } from './bson/value.js';

const NAMES: Record<number, string> = {
  1: 'InternalError',
  2: 'BadValue',
  9: 'FailedToParse',
  13: 'Unauthorized',
  14: 'TypeMismatch',
  15: 'Overflow',
  16: 'InvalidLength',
  17: 'ProtocolError',
  18: 'AuthenticationFailed',
  20: 'IllegalOperation',
  22: 'InvalidBSON',
  26: 'NamespaceNotFound',
  28: 'PathNotViable',
  40: 'ConflictingUpdateOperators',
  43: 'CursorNotFound',
  48: 'NamespaceExists',
  50: 'MaxTimeMSExpired',
  52: 'DollarPrefixedFieldName',
  53: 'InvalidIdField',
  54: 'NotSingleValueField',
  56: 'EmptyFieldName',
  59: 'CommandNotFound',
  66: 'ImmutableField',
  67: 'CannotCreateIndex',
  72: 'InvalidOptions',
  73: 'InvalidNamespace',
  85: 'IndexOptionsConflict',
  86: 'IndexKeySpecsConflict',
  146: 'ExceededMemoryLimit',
  171: 'CannotIndexParallelArrays',
  175: 'QueryPlanKilled',
  197: 'InvalidIndexSpecificationOption',
  201: 'CannotBuildIndexKeys',
  225: 'TransactionTooOld',
  263: 'OperationNotSupportedInTransaction',
  279: 'ClientDisconnect',
  292: 'QueryExceededMemoryLimitNoDiskUseAllowed',
  301: 'DataCorruptionDetected',
  334: 'MechanismUnavailable',
  14031: 'OutOfDiskSpace',
  10334: 'BSONObjectTooLarge',
  11000: 'DuplicateKey',
};

/** Error for what the real server supports and this engine does not, with the real server's code for unknown input. */
export const notImplemented = (code: number, feature: string): CommandError =>
  new CommandError(code, `This embedded engine does not implement ${feature}`);

/** Error for damaged data, with the real server's code for inconsistent indexes. */
export const damaged = (namespace: string): CommandError =>
  new CommandError(
    301,
    `${namespace} is damaged; rebuild a read model with annals reindex, restore anything else from a backup`,
  );

/** Error that the client receives as `code`, `codeName` and `errmsg`; for a duplicate key also with key and value. */
export class CommandError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly duplicate?: { readonly keyPattern: Value; readonly keyValue: Value },
  ) {
    super(message);
  }

  get codeName(): string {
    return NAMES[this.code] ?? `Location${this.code}`;
  }

  /** True if the error ends the whole command rather than one statement: timeout, client disconnected, disk full. */
  get isInterruption(): boolean {
    return this.code === 50 || this.code === 279 || this.code === 14031;
  }
}

/** Error for a value of the wrong type. */
export const wrongType = (name: string, value: Value, expected: string): CommandError =>
  new CommandError(14, `BSON field '${name}' is the wrong type '${typeName(value)}', expected type '${expected}'`);

/** Returns the value if it has the type. Errors: 14. */
export function requireType<T extends Value>(value: T, name: string, type: number): T {
  if (value.type === type) return value;
  throw wrongType(name, value, typeName({ ...value, type }));
}
