/** Callers who have not shown the secret: they may have little open, for each call and connection takes memory. */
import type { Http2Session, Http2Stream } from 'node:http2';

/** Of calls of one connection, whose client neither ends nor reads them; drivers make two before they show it. */
const MOST_CALLS = 20;
/** Beyond it the one that came first is closed. */
const MOST_CONNECTIONS = 100;

export interface Strangers {
  /** A connection, which has shown nothing yet. */
  come(session: Http2Session): void;
  /** A call without the secret; its connection is closed when it has too many. */
  call(session: Http2Session, stream: Http2Stream): void;
  /** The connection has shown the secret. */
  known(session: Http2Session): void;
}

export function createStrangers(): Strangers {
  /** Open calls, by connection, in the order in which they came. */
  const open = new Map<Http2Session, number>();
  return {
    come(session) {
      open.set(session, 0);
      session.once('close', () => open.delete(session));
      const [first = session] = open.keys();
      if (open.size > MOST_CONNECTIONS) first.destroy();
    },
    call(session, stream) {
      const calls = open.get(session);
      if (calls === undefined) return;
      if (calls >= MOST_CALLS) return session.destroy();
      open.set(session, calls + 1);
      stream.once('close', () => {
        const left = open.get(session);
        if (left !== undefined) open.set(session, left - 1);
      });
    },
    known: (session) => void open.delete(session),
  };
}
