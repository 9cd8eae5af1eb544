/** Two servers for a test: those given by EVENTSTORE_URL and MONGODB_URL, else the embedded engines on a new directory. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEngines } from '../../adapters/engines/start.js';
import type { Logger } from '../../application/ports.js';

export interface Servers {
  readonly eventStoreUrl: string;
  readonly mongoUrl: string;
  stop(): Promise<void>;
}

/** Says nothing, unless DEBUG is set. */
export const quiet: Logger = Object.fromEntries(
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
  const engines = await startEngines({ dataDir: directory.path, logger: quiet });
  return {
    ...engines,
    async stop() {
      await engines.stop();
      directory.remove();
    },
  };
}
