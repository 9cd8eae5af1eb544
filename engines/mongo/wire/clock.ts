/** Logical clock that is part of every answer of a replica set. */
import { Binary, Double, Long, ObjectId, Timestamp } from 'bson';
import { encode } from '../bson/encode.js';

/** Provides `ok: 1`, `$clusterTime` and `operationTime` of answers, and `opTime` and `electionId` of writes. */
export class Clock {
  #seconds = Math.floor(Date.now() / 1000);
  #increment = 1;
  #tails: { readonly ok: Buffer; readonly failed: Buffer } | undefined;

  /** Advances the clock for a write. */
  tick(): Timestamp {
    const now = Math.floor(Date.now() / 1000);
    if (now > this.#seconds) [this.#seconds, this.#increment] = [now, 1];
    else this.#increment++;
    this.#tails = undefined;
    return this.now();
  }

  now(): Timestamp {
    return new Timestamp({ t: this.#seconds, i: this.#increment });
  }

  /** Fields that follow an answer's own, without the enclosing document. */
  tail(ok: boolean): Buffer {
    if (!this.#tails) {
      const times = {
        $clusterTime: { clusterTime: this.now(), signature: UNSIGNED },
        operationTime: this.now(),
      };
      const fields = (object: object) => encode(object).subarray(4, -1);
      this.#tails = { ok: fields({ ok: new Double(1), ...times }), failed: fields(times) };
    }
    return ok ? this.#tails.ok : this.#tails.failed;
  }

  /** Fields added to the answer of a write. */
  written(): { opTime: { ts: Timestamp; t: Long }; electionId: ObjectId } {
    return { opTime: { ts: this.tick(), t: Long.ONE }, electionId: ELECTION };
  }
}

const UNSIGNED = { hash: new Binary(Buffer.alloc(20)), keyId: Long.ZERO };

/** Id of the only election; this member has won it. */
export const ELECTION = new ObjectId('7fffffff0000000000000001');
