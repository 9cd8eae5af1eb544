/** Callers who have not shown the secret: they may have little open, for each call and connection takes memory. */

/** What can be open: a connection, or a call of one. */
interface Open {
  once(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** Of calls of one connection, whose client neither ends nor reads them; drivers make two before they show it. */
const MOST_CALLS = 20;
/** Beyond it the one that came first is closed. */
const MOST_CONNECTIONS = 100;

export interface Strangers<Connection extends Open> {
  /** A connection, which has shown nothing yet. */
  come(connection: Connection): void;
  /** A call without the secret; its connection is closed when it has too many. */
  call(connection: Connection, call: Pick<Open, 'once'>): void;
  /** The connection has shown the secret. */
  known(connection: Connection): void;
}

export function createStrangers<Connection extends Open>(): Strangers<Connection> {
  /** Open calls, by connection, in the order in which they came. */
  const open = new Map<Connection, number>();
  return {
    come(connection) {
      open.set(connection, 0);
      connection.once('close', () => open.delete(connection));
      const [first = connection] = open.keys();
      if (open.size > MOST_CONNECTIONS) first.destroy();
    },
    call(connection, call) {
      const calls = open.get(connection);
      if (calls === undefined) return;
      if (calls >= MOST_CALLS) return void connection.destroy();
      open.set(connection, calls + 1);
      call.once('close', () => {
        const left = open.get(connection);
        if (left !== undefined) open.set(connection, left - 1);
      });
    },
    known: (connection) => void open.delete(connection),
  };
}
