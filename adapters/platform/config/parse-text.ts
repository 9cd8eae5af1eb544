/** Parses the text of an environment variable or flag as a value of the setting's type. */
import type { Setting } from '../../../application/config/setting.js';
import { ConfigError, type Origin } from './config-error.js';
import { describeType } from './describe-type.js';

/** Throws a `ConfigError` if the text is invalid. Lists are comma-separated or JSON. */
export function parseText(key: string, setting: Setting, text: string, origin: Origin): unknown {
  const value = parse(setting, text.trim());
  if (value === undefined) throw new ConfigError(key, `must be ${describeType(setting)}`, origin);
  return value;
}

function parse({ type }: Setting, text: string): unknown {
  switch (type) {
    case 'string':
      return text;
    case 'integer':
    case 'number':
      return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
    case 'boolean':
      return { true: true, false: false }[text.toLowerCase()];
    case 'array':
      return text.startsWith('[')
        ? parseJson(text)
        : text
            .split(',')
            .map((part) => part.trim())
            .filter(Boolean);
    case 'object':
      return parseJson(text);
    case 'function':
      return undefined;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
