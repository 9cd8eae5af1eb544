/** An event store driver that the test controls by hand. */
import { PassThrough } from 'node:stream';
import type { ResolvedEvent } from '@eventstore/db-client';

/** Options of a subscription. */
export interface SubscriptionOptions {
  readonly fromPosition: unknown;
  readonly filter: {
    readonly filterOn: string;
    readonly prefixes: readonly string[];
    readonly checkpointInterval: number;
    checkpointReached(subscription: unknown, position: { commit: bigint }): Promise<void>;
  };
}

/** A subscription like the driver's: buffers events, and emits everything else immediately. */
export class Subscription extends PassThrough {
  unsubscribed = 0;
  constructor(
    readonly options: SubscriptionOptions,
    readonly highWaterMark: number,
  ) {
    super({ objectMode: true, highWaterMark: 1000 });
  }
  give(...positions: readonly number[]) {
    for (const position of positions) this.write(stored(position));
  }
  checkpoint(position: number) {
    return this.options.filter.checkpointReached(this, { commit: BigInt(position) });
  }
  async unsubscribe() {
    this.unsubscribed++;
  }
}

/** An event at a position, as the driver delivers it. */
export const stored = (position: number, type = 'toys.ToyPut.v1') =>
  ({ event: { position: { commit: BigInt(position), prepare: 0n }, type } }) as unknown as ResolvedEvent;

/** Whether a promise settles within five turns of the event loop. */
export const isSettled = async (promise: Promise<unknown>) => {
  let settled = false;
  promise.finally(() => {
    settled = true;
  });
  for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  return settled;
};
