/** The server as its users start it, flags of node and all: what is measured is what they have. */
import { readFileSync } from 'node:fs';
import { type Server, startServer } from '../support/server-process.js';

const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
const start: string = JSON.parse(manifest).scripts.start;
const FLAGS_OF_NODE = start.split(' ').filter((word) => word.startsWith('--'));

/** As `startServer`; `flagsOfNode` are given to node besides those that `npm start` gives it. */
export const startUsual = (
  dataDir: string,
  flags: readonly string[] = [],
  flagsOfNode: readonly string[] = [],
): Promise<Server> => startServer(dataDir, flags, { NODE_OPTIONS: [...FLAGS_OF_NODE, ...flagsOfNode].join(' ') });
