/** Bounds what clients that have not shown the secret may cost: connections, calls and bytes. */

interface Closable {
  once(event: 'close', listener: () => void): unknown;
}

/** Calls of one connection, ended and reset ones included; drivers make two or three before they show it. */
const MOST_CALLS = 40;
/** Bytes that one connection may send: what drivers send before they show the secret is a tenth of it. */
const MOST_BYTES = 65_536;
/** How often the bytes are counted, ms: a client may send more in between. */
const COUNT_MS = 10;
/** Beyond it the one that came first is closed. */
const MOST_CONNECTIONS = 100;
/** Calls that drivers make before they show the secret; a connection that makes more counts against the rate. */
const FREE_CALLS = 5;
/** Connections that count, at once, and how many more a second; beyond it new ones are refused. */
const BURST = 300;
const CONNECTIONS_PER_SECOND = 20;
/** As how many connections one counts that was closed for its calls or bytes: it has cost as much. */
const WEIGHT_OF_FLOOD = 10;

export interface Strangers<Connection extends Closable> {
  /** Whether a further connection is accepted now; it then counts until `known`. */
  admit(): boolean;
  /** A connection that was admitted, which has shown nothing yet. */
  come(connection: Connection): void;
  /** A call without the secret; false where its connection is closed for having made too many. */
  call(connection: Connection): boolean;
  /** The connection has shown the secret. */
  known(connection: Connection): void;
}

/** `bytesRead`: how much a connection has sent. `destroy`: ends it, also in the event that a call comes with. */
export function createStrangers<Connection extends Closable>(
  bytesRead: (connection: Connection) => number,
  destroy: (connection: Connection) => void,
  now: () => number = () => performance.now(),
): Strangers<Connection> {
  /** How many calls each has made, in the order in which they came. */
  const strangers = new Map<Connection, number>();
  /** They may still send for a moment. */
  const closing = new WeakSet<Connection>();
  let counting: NodeJS.Timeout | undefined;
  let [tokens, refilled] = [BURST, now()];

  function refill(): void {
    const elapsed = now() - refilled;
    refilled += elapsed;
    tokens = Math.min(BURST, tokens + (elapsed / 1000) * CONNECTIONS_PER_SECOND);
  }

  function closeIfFlooding(connection: Connection, calls: number): boolean {
    if (calls <= MOST_CALLS && bytesRead(connection) <= MOST_BYTES) return false;
    tokens = Math.max(0, tokens - WEIGHT_OF_FLOOD);
    close(connection);
    return true;
  }

  function close(connection: Connection): void {
    strangers.delete(connection);
    closing.add(connection);
    destroy(connection);
  }

  function countBytes(): void {
    for (const [connection, calls] of strangers) closeIfFlooding(connection, calls);
    if (strangers.size > 0) return;
    clearInterval(counting);
    counting = undefined;
  }

  return {
    admit() {
      refill();
      return tokens >= 1;
    },
    come(connection) {
      strangers.set(connection, 0);
      connection.once('close', () => strangers.delete(connection));
      const [first = connection] = strangers.keys();
      if (strangers.size > MOST_CONNECTIONS) close(first);
      counting ??= setInterval(countBytes, COUNT_MS).unref();
    },
    call(connection) {
      const before = strangers.get(connection);
      if (before === undefined) return !closing.has(connection);
      strangers.set(connection, before + 1);
      if (before === FREE_CALLS) tokens--;
      return !closeIfFlooding(connection, before + 1);
    },
    known(connection) {
      strangers.delete(connection);
    },
  };
}
