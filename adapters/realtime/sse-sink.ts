/** A sink that writes server-sent events (HTML standard, 9.2) to an HTTP response. */
import type { ServerResponse } from 'node:http';
import { encodedOnce, type Sink } from './relay/sink.js';

/** Sent with every event stream. The last one keeps proxies from holding events back. */
export const SSE_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

/** Sends the headers at once; the response belongs to the sink from here on. */
export function openSse(response: ServerResponse, headers: { readonly [name: string]: string } = {}): Sink {
  response.writeHead(200, { ...SSE_HEADERS, ...headers });
  response.flushHeaders();
  // A socket that breaks while we write is a client that left: `close` follows.
  response.on('error', () => {});
  const write = (chunk: string | Buffer) => {
    if (!response.writableEnded && !response.destroyed) response.write(chunk);
  };
  return {
    send: (frame) => write(encode(frame)),
    beat: (position) => write(position === undefined ? ':\n\n' : `:\nid: ${position}\n\n`),
    buffered: () => response.writableLength,
    onDrain: (listener) => void response.on('drain', listener),
    end(how) {
      if (how === 'resume') write(`retry: ${retryMs()}\n\n`);
      response.end();
    },
    cut: () => void response.destroy(),
    onClose(listener) {
      if (response.closed) listener();
      else response.once('close', listener);
    },
  };
}

const encode = encodedOnce(({ json, position }) => {
  // In one block: clients forget the ids of blocks without data (docs/guide/relay.md).
  const cursor = position === undefined ? '' : `id: ${position}\n`;
  return Buffer.from(`${cursor}data: ${json}\n\n`);
});

/** Spread out, so that not everyone comes back in the same moment. */
const retryMs = () => 250 + Math.floor(Math.random() * 1750);
