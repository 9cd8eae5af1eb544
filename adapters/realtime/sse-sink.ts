/** A sink that writes server-sent events (HTML standard, 9.2) to an HTTP response. */
import type { ServerResponse } from 'node:http';
import { encodedOnce, type Sink } from './relay/sink.js';

/** Headers of every event stream. The last one keeps proxies from buffering. */
export const SSE_HEADERS = {
  'Content-Type': 'text/event-stream; charset=utf-8',
  'Cache-Control': 'no-store',
  'X-Accel-Buffering': 'no',
} as const;

/** Sends the headers and takes over the response. */
export function openSse(response: ServerResponse, headers: { readonly [name: string]: string } = {}): Sink {
  response.writeHead(200, { ...SSE_HEADERS, ...headers });
  response.flushHeaders();
  // `close` follows every error.
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
  // In one block: clients ignore the id of a block without data (docs/guide/relay.md).
  const cursor = position === undefined ? '' : `id: ${position}\n`;
  return Buffer.from(`${cursor}data: ${json}\n\n`);
});

/** Random, so that clients do not all reconnect at the same moment. */
const retryMs = () => 250 + Math.floor(Math.random() * 1750);
