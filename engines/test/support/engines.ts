/**
 * Provides both servers for a test: those at EVENTSTORE_URL and MONGODB_URL, else embedded engines on a new directory.
 */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../../supervisor/supervisor.js';
import { startSharedEngine } from './shared-engines.js';

export interface Servers {
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  stop(): Promise<void>;
}

/** Logger that is silent unless DEBUG is set. */
export const silentLogger: Logger = Object.fromEntries(
  (['debug', 'info', 'warn', 'error'] as const).map((level) => [
    level,
    (fields: object, message: string) => {
      if (process.env.DEBUG) console.error(level, message, fields);
    },
  ]),
) as unknown as Logger;

export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'annals-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export async function startServers(): Promise<Servers> {
  const { EVENTSTORE_URL: eventStoreUrl, MONGODB_URL: mongoUrl } = process.env;
  if (eventStoreUrl && mongoUrl) return { eventStoreUrl, mongoUrl, stop: async () => {} };
  const directory = temporaryDirectory();
  const secret = randomUUID();
  const [eventStore, mongo] = await Promise.all(
    (['eventstore', 'mongo'] as const).map((kind) =>
      startSharedEngine(kind, { directory: join(directory.path, kind), secret }),
    ),
  );
  return {
    eventStoreUrl: eventStore!.url,
    mongoUrl: mongo!.url,
    async stop() {
      await Promise.all([eventStore!.stop(), mongo!.stop()]);
      directory.remove();
    },
  };
}
