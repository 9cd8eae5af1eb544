/** Lists that may be long: short ones are answered whole, others as they are read, in turns. */
import { sliceExpired, yieldToEventLoop } from '../../../application/concurrency/index.js';
import type { Consistency } from '../../../application/consistency/index.js';
import { inPieces, JSON_TYPE, type Reply } from './answer.js';

/** Characters of a piece, and a last item besides. */
const PIECE = 32 * 1024;

/** `{[name]: [...items]}`. Items are asked for one by one, as far as the answer has been read. */
export function streamedList(name: string, items: Iterable<unknown>, reflected: Partial<Consistency> = {}): Reply {
  const pieces = piecesOf(name, items);
  const [first, second] = [pieces.next(), pieces.next()];
  if (first.done || second.done)
    return { status: 200, text: first.value ?? '', headers: { 'Content-Type': JSON_TYPE }, ...reflected };

  async function* content() {
    yield Buffer.from(first.value!);
    for (let piece = second; !piece.done; piece = pieces.next()) {
      if (sliceExpired()) await yieldToEventLoop();
      yield Buffer.from(piece.value);
    }
  }
  return { ...inPieces(content), ...reflected };
}

function* piecesOf(name: string, items: Iterable<unknown>): Generator<string, undefined> {
  let text = `{${JSON.stringify(name)}:[`;
  let isFirst = true;
  for (const each of items) {
    if (text.length >= PIECE) {
      yield text;
      text = '';
    }
    text += `${isFirst ? '' : ','}${JSON.stringify(each)}`;
    isFirst = false;
  }
  yield `${text}]}`;
  return undefined;
}
