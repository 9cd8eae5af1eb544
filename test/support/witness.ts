/** A witness of transparency logs (C2SP `tlog-witness`) on a real socket, for one log; it does not check signatures. */
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { verifyConsistency } from '../../application/audit/index.js';

export interface TestWitness {
  /** Its address and verifier key, as the setting `audit.witnesses` has them. */
  readonly setting: string;
  readonly key: string;
  /** Status of each answer so far. */
  readonly statuses: number[];
  /** Answers instead of the witness. */
  answer: ((response: ServerResponse) => void) | undefined;
  close(): Promise<void>;
}

export async function startWitness(name: string): Promise<TestWitness> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  const typed = Buffer.concat([Buffer.of(4), raw]);
  const id = createHash('sha256').update(`${name}\n`).update(typed).digest().subarray(0, 4);
  const key = `${name}+${id.toString('hex')}+${typed.toString('base64')}`;
  let seen = { size: 0, root: Buffer.alloc(0) };

  function cosign(request: string): { readonly status: number; readonly body: string } {
    const [head = '', ...rest] = request.split('\n\n');
    const checkpoint = rest.join('\n\n');
    const [old = '', ...hashes] = head.split('\n');
    const oldSize = Number(old.replace(/^old /, ''));
    const [, size = '', root = ''] = checkpoint.split('\n');
    const next = { size: Number(size), root: Buffer.from(root, 'base64') };
    if (oldSize > next.size) return { status: 400, body: 'old size' };
    if (oldSize !== seen.size) return { status: 409, body: `${seen.size}\n` };
    const proof = hashes.filter(Boolean).map((each) => Buffer.from(each, 'base64'));
    const isExtended = oldSize === 0 || verifyConsistency(oldSize, next.size, seen.root, next.root, proof);
    if (!isExtended) return { status: 422, body: 'the log does not extend the last checkpoint' };
    seen = next;
    const time = Math.floor(Date.now() / 1000);
    const text = `${checkpoint.slice(0, checkpoint.indexOf('\n\n'))}\n`;
    const timeBytes = Buffer.alloc(8);
    timeBytes.writeBigUInt64BE(BigInt(time));
    const signature = sign(null, Buffer.from(`cosignature/v1\ntime ${time}\n${text}`), privateKey);
    return { status: 200, body: `— ${name} ${Buffer.concat([id, timeBytes, signature]).toString('base64')}\n` };
  }

  const server = createServer(async (request, response) => {
    response.on('error', () => {});
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (witness.answer) return witness.answer(response);
    if (request.method !== 'POST' || request.url !== '/w/add-checkpoint') return void response.writeHead(404).end();
    const { status, body } = cosign(Buffer.concat(chunks).toString());
    witness.statuses.push(status);
    response.writeHead(status, status === 409 ? { 'Content-Type': 'text/x.tlog.size' } : {}).end(body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const witness: TestWitness = {
    setting: `http://127.0.0.1:${(server.address() as AddressInfo).port}/w ${key}`,
    key,
    statuses: [],
    answer: undefined,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return witness;
}
