/** One attempt to deliver: a POST to a judged address, within a time, following nothing. */
import type { LookupAddress } from 'node:dns';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { LookupFunction } from 'node:net';
import { type Target, type TargetRules, targetOf } from './target.js';

export interface Post {
  readonly url: string;
  readonly body: string;
  readonly headers: { readonly [name: string]: string };
  /** Ends the attempt: too late, or no longer wanted. */
  readonly signal: AbortSignal;
}

export interface Answer {
  readonly status: number;
  /** Of the header `Retry-After`, as it came. */
  readonly retryAfter?: string;
}

/** More of an answer than this is not listened to. */
const DRAINED_BYTES = 64 * 1024;

/** Resolves with the receiver's answer once its body is through or long enough; rejects without an answer. */
export async function post(rules: TargetRules, message: Post): Promise<Answer> {
  const target = await abortable(targetOf(message.url, rules), message.signal);
  const response = await send(target, message);
  const { statusCode: status = 0, headers } = response;
  await drain(response);
  const retryAfter = headers['retry-after'];
  return { status, ...(retryAfter === undefined ? {} : { retryAfter }) };
}

function send({ url, addresses }: Target, { body, headers, signal }: Post): Promise<IncomingMessage> {
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    request(url, {
      method: 'POST',
      headers: { ...headers, 'Content-Length': String(Buffer.byteLength(body)) },
      // A connection of its own: one kept open might lead to where the name pointed before.
      agent: false,
      lookup: pinned(addresses),
      signal,
    })
      .on('response', resolve)
      .on('error', reject)
      // A receiver that switches protocols closes the connection without an error.
      .on('close', () => reject(new Error('closed')))
      .end(body);
  });
}

/** Answers every look-up with the addresses that were judged: a name that changes its mind is not asked again. */
const pinned =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_, { all }, done) => {
    const [first] = addresses;
    if (all) done(null, [...addresses]);
    else if (first) done(null, first.address, first.family);
  };

/** The status is what counts: an answer that is cut off, or never ends, has given it. */
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

/** A look-up goes on until its resolver gives up; nobody waits for it after the signal. */
function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
