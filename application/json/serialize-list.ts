/** A JSON list as bytes, made in turns: its items may be long, and many. */
import { sliceExpired, yieldToEventLoop } from '../concurrency/index.js';

/** `{[name]: [...items]}` */
export async function serializeList(name: string, items: readonly unknown[]): Promise<Uint8Array> {
  const pieces = [Buffer.from(`{${JSON.stringify(name)}:[`)];
  for (const each of items) {
    if (sliceExpired()) await yieldToEventLoop();
    pieces.push(Buffer.from(`${pieces.length === 1 ? '' : ','}${JSON.stringify(each)}`));
  }
  return Buffer.concat([...pieces, Buffer.from(']}')]);
}
