/** Serializes a JSON list in slices, because it may be long and its items large. */
import { sliceExpired, yieldToEventLoop } from '../concurrency/index.js';

/** Returns `{[name]: [...items]}` as bytes. */
export async function serializeList(name: string, items: readonly unknown[]): Promise<Uint8Array> {
  const chunks = [Buffer.from(`{${JSON.stringify(name)}:[`)];
  for (const item of items) {
    if (sliceExpired()) await yieldToEventLoop();
    chunks.push(Buffer.from(`${chunks.length === 1 ? '' : ','}${JSON.stringify(item)}`));
  }
  return Buffer.concat([...chunks, Buffer.from(']}')]);
}
