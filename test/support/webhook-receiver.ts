/** Receiver of webhooks on a real socket: records requests and answers with a function of the test. */
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Gets the number of requests so far, this one included. */
export type Respond = (response: ServerResponse, count: number) => void;

export interface Receiver {
  readonly port: number;
  readonly url: string;
  readonly received: Received[];
  /** Resolves when `count` requests were received. */
  waitForRequests(count: number): Promise<void>;
  respond: Respond;
  close(): Promise<void>;
}

export const answer =
  (...statuses: readonly number[]): Respond =>
  (response, count) => {
    response.writeHead(statuses[Math.min(count, statuses.length) - 1] ?? 200).end('noted');
  };

export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  const waiting = new Set<{ count: number; wake: () => void }>();
  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = '', url: path = '', headers } = request;
    received.push({ method, path, headers, body: Buffer.concat(chunks).toString() });
    for (const { count, wake } of waiting) if (received.length >= count) wake();
    receiver.respond(response, received.length);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    port,
    url: `http://127.0.0.1:${port}/hook`,
    received,
    respond: answer(204),
    async waitForRequests(count) {
      if (received.length >= count) return;
      await new Promise<void>((wake) => waiting.add({ count, wake }));
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return receiver;
}
