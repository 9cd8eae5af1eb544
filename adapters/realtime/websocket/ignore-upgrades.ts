/** Upgrades to what we do not speak (`h2c`, of clients that would like HTTP/2): passed over, as RFC 9110, 7.8 has it. */
import type { IncomingMessage } from 'node:http';

/** What belongs to an upgrade, and to nothing else of a request (RFC 7540, section 3.2). */
const OF_UPGRADES: ReadonlySet<string> = new Set(['upgrade', 'http2-settings']);

/** The header of a request as it came, but for what asks for an upgrade; its body, if there is one, comes after it. */
export function withoutUpgrade({
  method,
  url,
  httpVersion,
  rawHeaders,
}: Pick<IncomingMessage, 'method' | 'url' | 'httpVersion' | 'rawHeaders'>): Buffer {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const [name = '', value = ''] = rawHeaders.slice(at, at + 2);
    const known = name.toLowerCase();
    const left = known === 'connection' ? others(value) : value;
    if (!OF_UPGRADES.has(known) && (left !== '' || value === '')) lines.push(`${name}: ${left}`);
  }
  // Node reads headers as it writes them.
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
}

const others = (connection: string) =>
  connection
    .split(',')
    .map((option) => option.trim())
    .filter((option) => !OF_UPGRADES.has(option.toLowerCase()))
    .join(', ');
