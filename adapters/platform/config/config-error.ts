/** A configuration error: one line with the setting and the source of its value. */

/** Source of a value. */
export interface Origin {
  readonly from: 'flag' | 'environment' | 'file' | 'default';
  /** Name of the flag or variable, or path of the file. */
  readonly name?: string;
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  /** `reason` completes a sentence that starts with the key. It never contains the value, which may be secret. */
  constructor(key: string, reason: string, origin?: Origin) {
    super(oneLine(`${key} ${reason}${origin ? describeOrigin(key, origin) : ''}`));
  }
}

function describeOrigin(key: string, { from, name }: Origin): string {
  if (from === 'default') return ` (${key} has its default value)`;
  return name === undefined || name === key ? ` (in the ${from})` : ` (${from}: ${name})`;
}

const oneLine = (text: string) => text.replaceAll(/\s*[\r\n]+\s*/g, ' ');
