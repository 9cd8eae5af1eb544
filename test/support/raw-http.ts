/** Requests as no ordinary client would send them: any header, any target, any bytes. */
import { once } from 'node:events';
import { type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';

export interface RawRequest {
  readonly method: string;
  readonly path: string;
  /** `host` too. */
  readonly headers?: { readonly [name: string]: string };
  readonly body?: Buffer | string | undefined;
}

export interface RawAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Of an event stream only the head is waited for. */
export const send = (base: string, { method, path, headers = {}, body }: RawRequest): Promise<RawAnswer> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(base);
    // Node leaves it out for methods that seldom have a body, and the body would be read as the next request.
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const sent = request({ hostname, port, method, path, headers: { ...length, ...headers } }, (response) => {
      const { statusCode: status = 0 } = response;
      if (response.headers['content-type']?.startsWith('text/event-stream')) {
        resolve({ status, headers: response.headers, text: '' });
        return void sent.destroy();
      }
      const chunks: Buffer[] = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status, headers: response.headers, text: String(Buffer.concat(chunks)) }));
    });
    sent.on('error', (error) => reject(new Error(`${method} ${path.slice(0, 100)}: no answer`, { cause: error })));
    sent.end(body);
  });

/** Sends bytes over a connection of their own; resolves to all that comes back until the other side ends it. */
export async function sendBytes(base: string, text: string): Promise<string> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write(text, 'latin1');
  await once(socket, 'close');
  return received;
}
