/** One delivery attempt: a POST to a checked address, with a time limit, without redirects. */
import type { LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Target, type TargetRules, targetOf } from './target.js';

export interface Post {
  readonly url: string;
  readonly body: string;
  readonly headers: { readonly [name: string]: string };
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

const DRAINED_BYTES = 64 * 1024;

/** Resolves with the status once the body has ended or was long enough; rejects without a response. */
export async function post(rules: TargetRules, message: Post): Promise<Answer> {
  const target = await abortable(targetOf(message.url, rules), message.signal);
  const response = await send(target, message);
  const { statusCode: status = 0, headers } = response;
  await drain(response);
  return { status, retryAfter: headers['retry-after'] };
}

function send({ url, addresses }: Target, { body, headers, signal }: Post): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    request(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
      // A new connection: a reused one may lead to an earlier address of the name.
      agent: false,
      lookup: pinned(addresses),
      signal,
    })
      .on('response', resolve)
      .on('error', reject)
      // A protocol switch closes the connection without an error.
      .on('close', () => reject(new Error('closed')))
      .end(body);
  });
}

/** A DNS lookup that returns the checked addresses, against DNS rebinding. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else if (first) done(null, first.address, first.family);
  };

/** Reads the body to its end or limit. Only the status matters, so errors are ignored. */
function drain(response: IncomingMessage): Promise<void> {
  let received = 0;
  return new Promise((resolve) => {
    response
      .on('data', (chunk: Buffer) => {
        received += chunk.length;
        if (received > DRAINED_BYTES) response.destroy();
      })
      .on('error', () => {})
      .on('close', resolve);
  });
}

/** Rejects on abort; the DNS lookup itself cannot be cancelled. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
