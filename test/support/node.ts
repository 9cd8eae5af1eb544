/** Nodes in the process of the test, over servers of its own: services as the program runs them. */
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Servers, silentLogger, startServers, temporaryDirectory } from '@annals/engines/testing/engines.js';
import { loadConfig } from '../../adapters/platform/config/config.js';
import type { Logger } from '../../application/ports/index.js';
import { runNode } from '../../bin/node/run-node.js';
import type { Service } from '../../bin/node/service.js';
import { rulesOf, serviceNames, settings } from '../../bin/settings.js';
import { NO_LIMITS } from './server-process.js';

export interface RunningNode {
  /** URL of a service or of `operations`: `http://127.0.0.1:<port>`. */
  url(service: string): string;
  stop(): Promise<void>;
}

export interface NodeOptions {
  /** Default: the node starts and stops its own engines. */
  readonly servers?: Servers;
  /** Settings, by their flags. */
  readonly flags?: { readonly [flag: string]: string };
  /** Settings of a configuration file: those that no flag can give. */
  readonly file?: object;
}

/** Resolves when the node is ready. */
export async function startNode(
  services: readonly Service[],
  { servers, flags: more, file }: NodeOptions = {},
): Promise<RunningNode> {
  const directory = temporaryDirectory();
  const undo: (() => Promise<void> | void)[] = [directory.remove];
  const urls = new Map<string, string>();
  const listening = ({ service, url }: { service?: string; url?: string }) =>
    void (service && url && urls.set(service, url));
  const logger: Logger = { ...silentLogger, info: listening };
  const stop = async () => {
    for (const close of undo.splice(0)) await close();
  };
  try {
    const given = servers ?? (await startServers());
    if (!servers) undo.unshift(given.stop);
    const flags = {
      '--data-dir': directory.path,
      '--operations-port': '0',
      ...NO_LIMITS,
      '--mongo-database': `test_${randomUUID().slice(0, 8)}`,
      ...more,
    };
    if (file) writeFileSync(join(directory.path, 'annals.config.json'), JSON.stringify(file));
    const { values } = await loadConfig(settings, { flags, env: {}, directory: directory.path }, rulesOf(serviceNames));
    // Everything that nodes share, with their secret, is in the servers and not in the directory of one node.
    const running = { ...given, kind: 'given' } as const;
    await runNode(services, values, running, logger, (_, close) => undo.unshift(close));
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: (service) => urls.get(service) ?? '', stop };
}

/** Starts a node with its own engines for all tests of a `describe`. */
export function useNode(...services: readonly Service[]): Pick<RunningNode, 'url'> {
  let node: RunningNode | undefined;
  before(async () => {
    node = await startNode(services);
  });
  after(() => node?.stop());
  return { url: (service) => node?.url(service) ?? '' };
}
