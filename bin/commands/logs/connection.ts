/** Connects commands to the API of a log service: address, credentials and errors. */
import { InvalidArgumentError, Option } from 'commander';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import { formatUrl } from '../../../adapters/platform/process/format-url.js';
import { VISIBLE } from '../../../application/config/setting.js';
import { readUrl } from '../../../domain/shared/index.js';
import type { Call } from '../command.js';
import { Failed } from '../failure.js';

export interface Connection {
  /** Without a trailing slash. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
}

/** The service answered with an error status. */
export class Refused extends Failed {
  constructor(
    readonly status: number,
    error: string,
    readonly retryAfterMs?: number,
  ) {
    super(`the log service answered: ${error}`);
  }
}

/** The service did not answer. */
export class Unreachable extends Failed {}

export const connectionOptions: readonly Option[] = [
  new Option('--url <url>', 'Address of the log service (default: from the configuration)'),
  new Option('--token <token>', 'API or producer token (default: from the configuration)').argParser(parseToken),
];

/** Keys of the settings for the address and credentials of the log service. */
export const CONNECTION_SETTINGS = [
  'host',
  'logs.port',
  'logs.appUrl',
  'logs.apiToken',
  'logs.basic.username',
  'logs.basic.password',
] as const satisfies readonly (keyof Call['config']['values'])[];

const VISIBLE_TEXT = new RegExp(`^${VISIBLE}+$`);

function parseToken(text: string): string {
  if (VISIBLE_TEXT.test(text)) return text;
  throw new InvalidArgumentError('It must be visible ASCII characters.');
}

/** Takes the command's options, then the configuration. */
export function connectionOf({ config: { values }, options }: Call): Connection {
  const address = options.url === undefined ? values['logs.appUrl'] : String(options.url);
  const url = parseUrl(address ?? localUrl(values.host, values['logs.port']));
  const { username, password } = url;
  const token = options.token === undefined ? values['logs.apiToken'] : String(options.token);
  const [name, secret] = username
    ? [decodeURIComponent(username), decodeURIComponent(password)]
    : [values['logs.basic.username'], values['logs.basic.password']];
  const basic = name === undefined ? undefined : Buffer.from(`${name}:${secret ?? ''}`).toString('base64');
  return {
    url: `${url.origin}${url.pathname.replace(/\/+$/, '')}`,
    headers: authorization(username ? undefined : token, basic),
  };
}

function authorization(token: string | undefined, basic: string | undefined): { [name: string]: string } {
  if (token) return { Authorization: `Bearer ${token}` };
  return basic ? { Authorization: `Basic ${basic}` } : {};
}

const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i;

function parseUrl(text: string): URL {
  const url = readUrl(text);
  if (url && /^https?:$/.test(url.protocol) && !BROKEN_ESCAPE.test(url.username + url.password)) return url;
  throw new ConfigError('--url', 'must be an http or https URL');
}

/** A wildcard address is reached by loopback. */
function localUrl(host: string, port: number): string {
  if (port === 0) throw new ConfigError('logs.port', 'is chosen when the service starts; pass --url');
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return formatUrl(name, port);
}

/** Sends a request; resolves for a success status. Rejects with `Refused` or `Unreachable`. */
export async function fetchApi({ url, headers }: Connection, path: string, init: RequestInit = {}): Promise<Response> {
  const requestHeaders = { ...headers, ...(init.headers as { [name: string]: string } | undefined) };
  let response: Response;
  try {
    response = await fetch(`${url}${path}`, { redirect: 'error', ...init, headers: requestHeaders });
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new Unreachable(`no answer from ${url} (${causeOf(error)}); if the service is elsewhere, pass --url`);
  }
  if (response.ok) return response;
  const text = await response.text().catch(() => '');
  throw new Refused(response.status, reasonIn(text, response.status), retryAfterOf(response));
}

export async function fetchJson<Body>(connection: Connection, path: string, init?: RequestInit): Promise<Body> {
  const response = await fetchApi(connection, path, init);
  return (await response.json()) as Body;
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error instanceof Error ? error.message : 'request failed';
}

function reasonIn(text: string, status: number): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'error' in body) return `${String(body.error)} (${status})`;
  } catch {
    // A proxy answered in another format.
  }
  return `HTTP status ${status}`;
}

function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
