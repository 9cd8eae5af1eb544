/** Masks secrets, and credentials inside URLs. */
import type { Entry } from './values.js';

export const MASK = '********';

/** Returns the displayable value of a setting; undefined stays undefined. */
export function maskEntry({ setting, value }: Entry): unknown {
  if (value === undefined || typeof value === 'function') return value && '[function]';
  // An empty list is not masked, or it would look set.
  const isNone = Array.isArray(value) && value.length === 0;
  return setting.secret && !isNone ? MASK : maskValue(value);
}

function maskValue(value: unknown): unknown {
  if (typeof value === 'string') return maskCredentials(value);
  if (Array.isArray(value)) return value.map(maskValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, SECRET_NAME.test(name) ? MASK : maskValue(each)]),
  );
}

const SECRET_NAME = /secret|password|passphrase|token|credential|api_?key|private_?key/i;
const USER_INFO = /([a-z][a-z0-9+.-]*:\/\/)[^\s"'`<>]*@/gi;
/** Includes connection and application names, as they identify callers to the embedded engines. */
const SECRET_PARAMETER = /([?&][^=&\s]*(?:secret|password|token|key|connectionname|appname)[^=&\s]*=)[^&\s"'`]*/gi;

/** `mongodb://user:password@host` becomes `mongodb://********@host`; secret query parameters likewise. */
export const maskCredentials = (text: string): string =>
  text.replaceAll(USER_INFO, `$1${MASK}@`).replaceAll(SECRET_PARAMETER, `$1${MASK}`);
