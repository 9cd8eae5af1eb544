/** Hides what must not be shown: secrets, and credentials inside addresses. */
import type { Entry } from './validate.js';

export const MASK = '********';

/** The value of a setting as it may be shown; undefined stays undefined. */
export function maskEntry({ setting, value }: Entry): unknown {
  if (value === undefined || typeof value === 'function') return value && '[function]';
  // Of none there is nothing to hide, and masked it would look like some.
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
/** The names of a connection and of an application are what the embedded engines know their callers by. */
const SECRET_PARAMETER = /([?&][^=&\s]*(?:secret|password|token|key|connectionname|appname)[^=&\s]*=)[^&\s"'`]*/gi;

/** `mongodb://user:password@host` becomes `mongodb://********@host`; secret query parameters likewise. */
export const maskCredentials = (text: string): string =>
  text.replaceAll(USER_INFO, `$1${MASK}@`).replaceAll(SECRET_PARAMETER, `$1${MASK}`);
