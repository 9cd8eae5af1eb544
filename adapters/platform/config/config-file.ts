/** Finds and reads the configuration file: a module, because some settings are functions, or JSON. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from './config-error.js';

const USUAL_NAMES = ['annals.config.mjs', 'annals.config.js', 'annals.config.json'];

export interface ConfigFile {
  readonly path: string;
  readonly content: object;
}

/** Undefined when no file was asked for and none of the usual ones is there. */
export async function readConfigFile(directory: string, asked?: string): Promise<ConfigFile | undefined> {
  const path = asked === undefined ? usual(directory) : isAbsolute(asked) ? asked : join(directory, asked);
  if (path === undefined) return undefined;
  if (!existsSync(path)) throw new ConfigError(path, 'is not there (flag: --config)');
  const content = await evaluate(path).catch((error: unknown) => {
    throw new ConfigError(path, `can't be read: ${error instanceof Error ? error.message : 'it threw'}`);
  });
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new ConfigError(path, path.endsWith('.json') ? 'is no object' : 'has no object as its default export');
  }
  return { path, content };
}

const usual = (directory: string) => USUAL_NAMES.map((name) => join(directory, name)).find((path) => existsSync(path));

async function evaluate(path: string): Promise<unknown> {
  // Some editors begin a file with a byte order mark.
  if (path.endsWith('.json')) return JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  const module: { default?: unknown } = await import(pathToFileURL(path).href);
  return module.default;
}
