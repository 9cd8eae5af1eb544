/** Processes the pipelined requests of a connection one by one, in a queue of limited length. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** Pipelined requests after which the connection is closed; no common client sends more. */
const MAX_QUEUED = 100;

/**
 * Starts each request of a connection when the previous one was answered. Node would start all requests it has read:
 * thousands fit into a few kilobytes and would block all other clients.
 */
export function limitPipelining(respond: Respond): Respond {
  const queues = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const queue = queues.get(socket);
    const start = () => {
      response.once('close', next);
      respond(request, response);
    };
    const next = () => {
      const first = socket.destroyed ? undefined : queues.get(socket)?.shift();
      if (first) first();
      else queues.delete(socket);
    };
    if (socket.destroyed) return;
    if (!queue) {
      queues.set(socket, []);
      start();
    } else if (queue.push(start) > MAX_QUEUED) {
      queue.length = 0;
      socket.destroy();
    }
  };
}
