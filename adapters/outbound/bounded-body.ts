/** Reads the body of a response of another server, which may send without end. */
export async function readBody(response: Response, maxBytes: number): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > maxBytes) throw new Error('the response is too large');
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}
