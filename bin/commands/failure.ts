/** Turns errors with a cause outside the program into one line for people. */
import { DirectoryInUse, EngineFailed, SharedDirectory, StoreDamaged } from '@annals/engines';
import { WrongSecret } from '../../adapters/crypto/wrapping.js';
import { maskCredentials } from '../../adapters/platform/config/mask.js';
import { CorruptEventError, UnavailableError, UnfinishedMigrationError } from '../../application/ports/index.js';

/** A command failed; the message is one line for people. */
export class Failed extends Error {
  override readonly name: string = 'Failed';
}

/** One line about an error; undefined for bugs, which need their stack. */
export function outsideCause(error: unknown): string | undefined {
  const cause = causeOf(error);
  return cause?.includes('EMFILE') ? `${cause}: raise the limit of open files (ulimit -n)` : cause;
}

function causeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message } = error;
  if (ERRORS_FOR_PEOPLE.some((kind) => error instanceof kind)) return message;
  if (error instanceof UnavailableError) return `${message}${because(error.cause)}`;
  if (name === 'MongoServerSelectionError') return `MongoDB does not answer: ${maskCredentials(message)}`;
  return systemCause(error);
}

const ERRORS_FOR_PEOPLE = [
  Failed,
  DirectoryInUse,
  EngineFailed,
  SharedDirectory,
  StoreDamaged,
  CorruptEventError,
  UnfinishedMigrationError,
  WrongSecret,
];

const because = (cause: unknown) => (cause instanceof Error ? `: ${maskCredentials(cause.message)}` : '');

function systemCause(error: NodeJS.ErrnoException & { address?: string; port?: number }): string | undefined {
  const { code, syscall, address, port, path, message } = error;
  if (!code || !syscall) return undefined;
  if (code === 'EADDRINUSE')
    return `port ${port} on ${address} is already in use; stop the program that uses it, or choose another port`;
  if (code === 'EADDRNOTAVAIL') return `${address} is not an address of this machine`;
  if (code === 'EACCES' && port) return `port ${port} requires more privileges than this process has`;
  return path === undefined ? message : `${path}: ${message}`;
}
