/** Ignores upgrades to unsupported protocols such as `h2c`, as RFC 9110, section 7.8 requires. */
import type { IncomingMessage } from 'node:http';

/** Headers and connection options that only concern upgrades (RFC 7540, section 3.2). */
const UPGRADE_HEADERS: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** Returns the header of a request without the parts that ask for an upgrade. Its body, if any, follows it. */
export function withoutUpgrade({
  method,
  url,
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const lowerName = name.toLowerCase();
    const remaining = lowerName === 'connection' ? withoutUpgradeOptions(value) : value;
    if (!UPGRADE_HEADERS.has(lowerName) && (remaining !== '' || value === '')) lines.push(`${name}: ${remaining}`);
  }
  // Node decodes headers as latin1.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const withoutUpgradeOptions = (connection: string) =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !UPGRADE_HEADERS.has(option.toLowerCase()))
    .join(', ');
