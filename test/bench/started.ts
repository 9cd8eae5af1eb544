/** Starts the server as its users do, with the node flags of `npm start`, so that benchmarks measure the same setup. */
import { readFileSync } from 'node:fs';
import { type Server, startServer } from '../support/server-process.js';

const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
const start: string = JSON.parse(manifest).scripts.start;
const FLAGS_OF_NODE = start.split(' ').filter((word) => word.startsWith('--'));

/** Like `startServer`; `flagsOfNode` are added to the node flags of `npm start`; `program` is that of another build. */
export const startUsual = (
  dataDir: string,
  flags: readonly string[] = [],
  flagsOfNode: readonly string[] = [],
  program?: string,
): Promise<Server> =>
  startServer(dataDir, flags, { NODE_OPTIONS: [...FLAGS_OF_NODE, ...flagsOfNode].join(' ') }, program);
