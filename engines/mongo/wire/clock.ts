/** The logical clock that every answer of a replica set ends with. */
import { Binary, Double, Long, ObjectId, Timestamp } from 'bson';
import { encode } from '../bson/encode.js';

/** The `ok: 1`, `$clusterTime` and `operationTime` of answers, and the `opTime` and `electionId` of writes. */
export class Clock {
  #seconds = Math.floor(Date.now() / 1000);
  #increment = 1;
  #tails: { readonly ok: Buffer; readonly failed: Buffer } | undefined;

  /** A new time, for a write. */
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

  /** The fields after an answer's own, without a document around them. */
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

  /** What the answer to a write carries. */
  written(): { opTime: { ts: Timestamp; t: Long }; electionId: ObjectId } {
    return { opTime: { ts: this.tick(), t: Long.ONE }, electionId: ELECTION };
  }
}

const UNSIGNED = { hash: new Binary(Buffer.alloc(20)), keyId: Long.ZERO };

/** This member has won the only election there ever was. */
export const ELECTION = new ObjectId('7fffffff0000000000000001');
