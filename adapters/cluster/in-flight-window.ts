/** Limits unacknowledged requests to a node: one at a time for each target, and a number of bytes in total. */

/** A request to another node. */
export interface InFlightRequest {
  readonly number: number;
  readonly target: string;
  readonly bytes: number;
  /** Sends the request. */
  send(): void;
  settle(delivered: boolean): void;
}

/** Bytes in flight to one node. Targets that do not read can fill it and so block the others. */
const MAX_IN_FLIGHT_BYTES = 16 * 1024 * 1024;

export function createInFlightWindow(limit = MAX_IN_FLIGHT_BYTES) {
  /** Queues by target. The first of each is in flight, or waits for room. */
  const queues = new Map<string, InFlightRequest[]>();
  const inFlight = new Map<number, InFlightRequest>();
  let waiting: InFlightRequest[] = [];
  let bytes = 0;

  function start(request: InFlightRequest) {
    bytes += request.bytes;
    inFlight.set(request.number, request);
    request.send();
  }

  function fill() {
    while (waiting[0] && (bytes === 0 || bytes + waiting[0].bytes <= limit)) start(waiting.shift()!);
  }

  return {
    add(request: InFlightRequest) {
      const queue = queues.get(request.target);
      if (queue) return void queue.push(request);
      queues.set(request.target, [request]);
      waiting.push(request);
      fill();
    },

    /** Handles the acknowledgement of a request. */
    acknowledge(number: number, delivered: boolean) {
      const request = inFlight.get(number);
      if (!request) return;
      inFlight.delete(number);
      bytes -= request.bytes;
      const queue = queues.get(request.target)!;
      queue.shift();
      if (queue[0]) waiting.push(queue[0]);
      else queues.delete(request.target);
      fill();
      request.settle(delivered);
    },

    /** Fails all requests: the connection is gone. */
    failAll() {
      const all = [...queues.values()].flat();
      queues.clear();
      inFlight.clear();
      waiting = [];
      bytes = 0;
      for (const request of all) request.settle(false);
    },
  };
}
