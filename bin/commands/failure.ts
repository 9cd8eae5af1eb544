/** What to tell a person about an error that is no bug. */
import { DirectoryInUse, EngineFailed, SharedDirectory, StoreDamaged } from '@annals/engines';
import { WrongSecret } from '../../adapters/crypto/wrapping.js';
import { maskCredentials } from '../../adapters/platform/config/mask.js';
import { CorruptEventError, UnavailableError } from '../../application/ports/index.js';

/** A command can't do its work; the message is one line that says why, for people. */
export class Failed extends Error {
  override readonly name: string = 'Failed';
}

/** One line about an error whose cause lies outside the program; undefined for those that are bugs. */
export function outsideCause(error: unknown): string | undefined {
  const cause = causeOf(error);
  return cause?.includes('EMFILE') ? `${cause}: raise the limit of open files (ulimit -n)` : cause;
}

function causeOf(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { name, message } = error;
  if (TOLD.some((kind) => error instanceof kind)) return message;
  if (error instanceof UnavailableError) return `${message}${because(error.cause)}`;
  if (name === 'MongoServerSelectionError') return `MongoDB does not answer: ${maskCredentials(message)}`;
  return systemCause(error);
}

const TOLD = [Failed, DirectoryInUse, EngineFailed, SharedDirectory, StoreDamaged, CorruptEventError, WrongSecret];

const because = (cause: unknown) => (cause instanceof Error ? `: ${maskCredentials(cause.message)}` : '');

/** Errors of the operating system say what was asked of it. */
function systemCause(error: NodeJS.ErrnoException & { address?: string; port?: number }): string | undefined {
  const { code, syscall, address, port, path, message } = error;
  if (!code || !syscall) return undefined;
  if (code === 'EADDRINUSE') return `port ${port} on ${address} is taken; choose another one`;
  if (code === 'EADDRNOTAVAIL') return `${address} is no address of this machine`;
  if (code === 'EACCES' && port) return `port ${port} needs more rights than this process has`;
  return path === undefined ? message : `${path}: ${message}`;
}
