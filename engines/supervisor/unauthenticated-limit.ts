/** Limits the connections, calls and bytes of clients that have not presented the secret. */

interface Closable {
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Calls per connection, including finished and reset ones. Drivers make two or three before they present the secret.
 */
const MAX_CALLS = 40;
/** Bytes one connection may send. Drivers send a tenth of it before they present the secret. */
const MAX_BYTES = 65_536;
/** Milliseconds between byte counts; a client may send more in between. */
const BYTE_CHECK_MS = 10;
/** Above this, the oldest connection is closed. */
const MAX_CONNECTIONS = 100;
/** Calls that drivers make before they present the secret. A connection that makes more counts against the rate. */
const FREE_CALLS = 5;
/** Burst and refill rate of connections that count; above it, new connections are refused. */
const BURST = 300;
const CONNECTIONS_PER_SECOND = 20;
/** Connections that one closed for its calls or bytes counts as. */
const FLOOD_WEIGHT = 10;

/**
 * Creates the limit.
 * @param bytesRead Bytes a connection has sent.
 * @param destroy Ends a connection; must also work inside the event that reports a call.
 */
export function createUnauthenticatedLimit<Connection extends Closable>(
  bytesRead: (connection: Connection) => number,
  destroy: (connection: Connection) => void,
) {
  /** Calls per connection, in order of arrival. */
  const callCounts = new Map<Connection, number>();
  /** Closed connections that may still send for a moment. */
  const closing = new WeakSet<Connection>();
  let byteCheck: NodeJS.Timeout | undefined;
  let [tokens, refilled] = [BURST, performance.now()];

  function refill(): void {
    const elapsed = performance.now() - refilled;
    refilled += elapsed;
    tokens = Math.min(BURST, tokens + (elapsed / 1000) * CONNECTIONS_PER_SECOND);
  }

  function closeIfFlooding(connection: Connection, calls: number): boolean {
    if (calls <= MAX_CALLS && bytesRead(connection) <= MAX_BYTES) return false;
    tokens = Math.max(0, tokens - FLOOD_WEIGHT);
    close(connection);
    return true;
  }

  function close(connection: Connection): void {
    callCounts.delete(connection);
    closing.add(connection);
    destroy(connection);
  }

  function checkBytes(): void {
    for (const [connection, calls] of callCounts) closeIfFlooding(connection, calls);
    if (callCounts.size > 0) return;
    clearInterval(byteCheck);
    byteCheck = undefined;
  }

  return {
    /** Reports whether to accept a further connection now; it counts until `markAuthenticated`. */
    admit() {
      refill();
      return tokens >= 1;
    },
    /** Adds an admitted connection. */
    add(connection: Connection) {
      callCounts.set(connection, 0);
      connection.once('close', () => callCounts.delete(connection));
      const [first = connection] = callCounts.keys();
      if (callCounts.size > MAX_CONNECTIONS) close(first);
      byteCheck ??= setInterval(checkBytes, BYTE_CHECK_MS).unref();
    },
    /** Counts a call without the secret. Returns false if its connection has been closed for too many calls. */
    countCall(connection: Connection) {
      const previousCalls = callCounts.get(connection);
      if (previousCalls === undefined) return !closing.has(connection);
      callCounts.set(connection, previousCalls + 1);
      if (previousCalls === FREE_CALLS) tokens--;
      return !closeIfFlooding(connection, previousCalls + 1);
    },
    /** Removes a connection that has presented the secret. */
    markAuthenticated(connection: Connection) {
      callCounts.delete(connection);
    },
  };
}
