/** The start of a node as a table for a terminal: services, addresses and how to sign in. */
import { isAbsolute, relative, resolve } from 'node:path';
import picocolors from 'picocolors';
import { escapeControls } from '../../adapters/platform/observability/safe-text.js';
import type { Servers } from './locate-servers.js';
import { release } from './release.js';

export interface Listener {
  readonly service: string;
  readonly url: string;
  /** How callers sign in, in as few words as fit on a terminal. */
  readonly signIn: string;
}

export function startTable(listeners: readonly Listener[], kind: Servers['kind'], dataDir: string, readyMs: number) {
  const nameWidth = Math.max(...listeners.map(({ service }) => service.length));
  const urlWidth = Math.max(...listeners.map(({ url }) => url.length));
  const rows = listeners.map(({ service, url, signIn }) => {
    const name = (service.charAt(0).toUpperCase() + service.slice(1)).padEnd(nameWidth);
    return `  ${name}  ${picocolors.cyan(url.padEnd(urlWidth))}  ${picocolors.dim(escapeControls(signIn))}`;
  });
  const ready = `ready in ${(readyMs / 1000).toFixed(1)} s`;
  const details = picocolors.dim(`(${storesOf(kind)}, data in ${escapeControls(shortPath(dataDir))})`);
  const head = `  ${picocolors.bold(`Annals ${release}`)}  ${picocolors.green(ready)}   ${details}`;
  return `\n${head}\n\n${rows.join('\n')}\n\n`;
}

/** Which servers hold the data, for people. */
export function storesOf(kind: Servers['kind']): string {
  switch (kind) {
    case 'given':
      return 'configured EventStoreDB and MongoDB';
    case 'embedded':
      return 'embedded engines';
    case 'embedded, of another process':
      return 'embedded engines of another process';
  }
}

/** Relative to the working directory where it is below it. */
function shortPath(dataDir: string): string {
  const path = relative('.', dataDir);
  return path.startsWith('..') || isAbsolute(path) ? resolve(dataDir) : `./${path}`;
}
