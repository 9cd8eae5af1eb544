/** Responds with JSON that is generated as the client reads it, to bound memory and CPU time. */
import { sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Consistency } from '../../../application/consistency/index.js';
import { type Bytes, JSON_TYPE, type Reply } from './answer.js';

/** Characters after which a chunk ends; the last item may exceed it. */
const CHUNK_CHARACTERS = 32 * 1024;

export const streamedJson = (chunks: Bytes['content'], headers?: Reply['headers']): Reply => ({
  status: 200,
  headers: { ...headers, 'Content-Type': JSON_TYPE },
  bytes: { content: chunks },
});

/** Responds with `{[name]: [...items]}`: short lists as a whole, long ones streamed. */
export function streamedList(name: string, items: Iterable<unknown>, consistency: Partial<Consistency> = {}): Reply {
  const chunks = chunksOf(name, items);
  const [first, second] = [chunks.next(), chunks.next()];
  if (first.done || second.done)
    return { status: 200, text: first.value ?? '', headers: { 'Content-Type': JSON_TYPE }, ...consistency };

  async function* inSlices() {
    yield first.value!;
    for (let chunk = second; !chunk.done; chunk = chunks.next()) {
      if (sliceExpired()) await yieldToEventLoop();
      yield chunk.value;
    }
  }
  return { ...streamedJson(inSlices), ...consistency };
}

function* chunksOf(name: string, items: Iterable<unknown>): Generator<string, undefined> {
  let text = `{${JSON.stringify(name)}:[`;
  let isFirst = true;
  for (const each of items) {
    if (text.length >= CHUNK_CHARACTERS) {
      yield text;
      text = '';
    }
    text += `${isFirst ? '' : ','}${JSON.stringify(each)}`;
    isFirst = false;
  }
  yield `${text}]}`;
  return undefined;
}
