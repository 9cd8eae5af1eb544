/** A JSON list as bytes, made in turns: its items may be long, and many. */
import { isTurnOver, nextTurn } from '../concurrency/cooperative-scheduler.js';

/** `{[name]: [...items]}` */
export async function jsonBytes(name: string, items: readonly unknown[]): Promise<Uint8Array> {
  const pieces = [Buffer.from(`{${JSON.stringify(name)}:[`)];
  for (const each of items) {
    if (isTurnOver()) await nextTurn();
    pieces.push(Buffer.from(`${pieces.length === 1 ? '' : ','}${JSON.stringify(each)}`));
  }
  return Buffer.concat([...pieces, Buffer.from(']}')]);
}
