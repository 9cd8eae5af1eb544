/** Finds and reads the configuration file: JSON, or a module, because some settings are functions. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ConfigError } from './config-error.js';

const DEFAULT_NAMES = ['annals.config.mjs', 'annals.config.js', 'annals.config.json'];

/** Undefined if no file was requested and none of the default names exists. */
export async function readConfigFile(directory: string, requestedPath?: string) {
  const path =
    requestedPath === undefined
      ? findDefault(directory)
      : isAbsolute(requestedPath)
        ? requestedPath
        : join(directory, requestedPath);
  if (path === undefined) return undefined;
  if (!existsSync(path)) throw new ConfigError(path, 'does not exist (flag: --config)');
  const content = await load(path).catch((error: unknown) => {
    throw new ConfigError(path, `cannot be read: ${error instanceof Error ? error.message : 'it failed'}`);
  });
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    throw new ConfigError(path, path.endsWith('.json') ? 'is not an object' : 'has no object as its default export');
  }
  return { path, content };
}

const findDefault = (directory: string) =>
  DEFAULT_NAMES.map((name) => join(directory, name)).find((path) => existsSync(path));

async function load(path: string): Promise<unknown> {
  // Some editors write a byte order mark.
  if (path.endsWith('.json')) return JSON.parse((await readFile(path, 'utf8')).replace(/^\uFEFF/, ''));
  const module: { default?: unknown } = await import(pathToFileURL(path).href);
  return module.default;
}
