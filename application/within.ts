/** A wait with an end: a store that freezes says nothing, for ever. */
import { Unavailable } from './ports.js';

/** How long a store has for one call, ms: two in a row still leave a request time to be answered within 10 s. */
export const CALL_MS = 4500;

/** What `work` comes to; `Unavailable` when `ms` pass first. The work itself goes on: it may be done all the same. */
export async function within<T>(ms: number, work: Promise<T> | T, who: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Unavailable(`${who} did not answer within ${ms} ms`)), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
