/** How the commands of the log service reach it: its address, who is calling, and what goes wrong on the way. */
import { InvalidArgumentError, Option } from 'commander';
import { ConfigError } from '../../../adapters/platform/config/config-error.js';
import { urlOf } from '../../../adapters/platform/process/format-url.js';
import { VISIBLE } from '../../../application/config/setting.js';
import { readUrl } from '../../../domain/shared/index.js';
import type { Call } from '../command.js';
import { Failed } from '../failure.js';

export interface Connection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
}

/** The service answered, but not with success. */
export class Refused extends Failed {
  constructor(
    readonly status: number,
    error: string,
    readonly retryAfterMs?: number,
  ) {
    super(`the log service refused: ${error}`);
  }
}

/** No answer came. */
export class Unreachable extends Failed {}

export const connectionOptions: readonly Option[] = [
  new Option('--url <url>', 'Address of the log service (default: as configured here)'),
  new Option('--token <token>', 'API or producer token (default: as configured here)').argParser(token),
];

/** Keys of the settings that say where the log service is and how to sign in. */
export const CONNECTION_SETTINGS = [
  'host',
  'logs.port',
  'logs.appUrl',
  'logs.apiToken',
  'logs.basic.username',
  'logs.basic.password',
] as const satisfies readonly (keyof Call['config']['values'])[];

const CARRIED = new RegExp(`^${VISIBLE}+$`);

function token(text: string): string {
  if (CARRIED.test(text)) return text;
  throw new InvalidArgumentError('It must be visible characters of ASCII.');
}

/** From the command's options, else from the configuration of this place. */
export function connectionOf({ config: { values }, options }: Call): Connection {
  const given = options.url === undefined ? values['logs.appUrl'] : String(options.url);
  const url = parsed(given ?? localUrl(values.host, values['logs.port']));
  const { username, password } = url;
  const token = options.token === undefined ? values['logs.apiToken'] : String(options.token);
  const [name, word] = username
    ? [decodeURIComponent(username), decodeURIComponent(password)]
    : [values['logs.basic.username'], values['logs.basic.password']];
  const basic = name === undefined ? undefined : Buffer.from(`${name}:${word ?? ''}`).toString('base64');
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

function parsed(text: string): URL {
  const url = readUrl(text);
  if (url && /^https?:$/.test(url.protocol) && !BROKEN_ESCAPE.test(url.username + url.password)) return url;
  throw new ConfigError('--url', 'must be an http or https URL');
}

/** A service that listens everywhere is here too. */
function localUrl(host: string, port: number): string {
  if (port === 0) throw new ConfigError('logs.port', 'is picked when the service starts: give --url');
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return urlOf(name, port);
}

/** The answer to a request, once its status is known to be a success. Rejects with `Refused` or `Unreachable`. */
export async function ask({ url, headers }: Connection, path: string, init: RequestInit = {}): Promise<Response> {
  const sent = { ...headers, ...(init.headers as { [name: string]: string } | undefined) };
  let response: Response;
  try {
    response = await fetch(`${url}${path}`, { redirect: 'error', ...init, headers: sent });
  } catch (error) {
    init.signal?.throwIfAborted();
    throw new Unreachable(`no answer from ${url} (${causeOf(error)})`);
  }
  if (response.ok) return response;
  const text = await response.text().catch(() => '');
  throw new Refused(response.status, reasonIn(text, response.status), retryAfterOf(response));
}

export async function askJson<Body>(connection: Connection, path: string, init?: RequestInit): Promise<Body> {
  const response = await ask(connection, path, init);
  return (await response.json()) as Body;
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause instanceof Error) return 'code' in cause ? String(cause.code) : cause.message;
  return error instanceof Error ? error.message : 'it failed';
}

function reasonIn(text: string, status: number): string {
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === 'object' && body !== null && 'error' in body) return `${String(body.error)} (${status})`;
  } catch {
    // Something on the way to the service answered in its own words.
  }
  return `it answered ${status}`;
}

function retryAfterOf({ headers }: Response): number | undefined {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1000 : undefined;
}
