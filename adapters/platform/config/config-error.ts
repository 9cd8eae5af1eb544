/** A configuration that can't be used, as one line that names the key and where its value came from. */

/** Where a value came from. */
export interface Origin {
  readonly from: 'flag' | 'environment' | 'file' | 'default';
  /** The flag, the variable, or the file's path. */
  readonly name?: string;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** `reason` is the end of a sentence about the key; it never holds the value, which may be a secret. */
  constructor(key: string, reason: string, origin?: Origin) {
    super(oneLine(`${key} ${reason}${origin ? whence(key, origin) : ''}`));
  }
}

function whence(key: string, { from, name }: Origin): string {
  if (from === 'default') return ' (its default)';
  return name === undefined || name === key ? ` (in the ${from})` : ` (${from}: ${name})`;
}

const oneLine = (text: string) => text.replaceAll(/\s*[\r\n]+\s*/g, ' ');
