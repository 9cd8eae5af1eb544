/** Requests that come over a connection before the one before them is answered wait for it, in bounded number. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

type Respond = (request: IncomingMessage, response: ServerResponse) => void;

/** Who has sent more without waiting for an answer is cut: no client in use pipelines so many. */
const MOST_WAITING = 100;

/**
 * Begins each request of a connection when the one before it is answered. Node would begin all that it reads at once:
 * thousands come in a few kilobytes, and everybody else waits for them.
 */
export function inOrder(respond: Respond): Respond {
  const lines = new WeakMap<Socket, (() => void)[]>();
  return (request, response) => {
    const { socket } = request;
    const line = lines.get(socket);
    const begin = () => {
      response.once('close', next);
      respond(request, response);
    };
    const next = () => {
      const first = socket.destroyed ? undefined : lines.get(socket)?.shift();
      if (first) first();
      else lines.delete(socket);
    };
    if (socket.destroyed) return;
    if (!line) {
      lines.set(socket, []);
      begin();
    } else if (line.push(begin) > MOST_WAITING) {
      line.length = 0;
      socket.destroy();
    }
  };
}
