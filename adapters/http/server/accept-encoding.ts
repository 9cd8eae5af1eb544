/** Reads the `Accept-Encoding` header. */
import type { Request } from './route.js';

/** Whether the client takes an encoding: it is listed, and not with `q=0`. */
export const acceptsEncoding = (headers: Request['headers'], encoding: string): boolean =>
  String(headers['accept-encoding'] ?? '')
    .toLowerCase()
    .split(',')
    .some((each) => {
      const [name, ...parameters] = each.split(';').map((part) => part.trim());
      return name === encoding && !parameters.some((parameter) => /^q\s*=\s*0(?:\.0*)?$/.test(parameter));
    });
