/** Client of a witness of the transparency log over HTTP (C2SP `tlog-witness`). */
import { parseVerifier, type Witness } from '../../application/audit/index.js';
import { readBody } from './bounded-body.js';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;

/** @param setting Its address and its verifier key, with a space between them; undefined if it is malformed. */
export function createWitness(setting: string): Witness | undefined {
  const [address = '', line = ''] = setting.split(' ');
  const verifier = parseVerifier(line);
  if (!verifier?.isWitness || !URL.canParse(address)) return undefined;
  const url = `${address.replace(/\/$/, '')}/add-checkpoint`;
  return {
    verifier,
    async addCheckpoint(body, stop) {
      const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'User-Agent': 'annals' };
      const signal = AbortSignal.any([stop, AbortSignal.timeout(TIMEOUT_MS)]);
      const response = await fetch(url, { method: 'POST', body, headers, signal, redirect: 'error' });
      const text = await readBody(response, MAX_BYTES);
      if (response.ok) return text;
      const isSize = response.status === 409 && /^\d{1,15}\n$/.test(text);
      if (isSize) return Number(text);
      throw new Error(`it answered ${response.status}: ${text.slice(0, 200).trim()}`);
    },
  };
}
