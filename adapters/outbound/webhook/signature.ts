/** Signs webhook messages, so that receivers can verify the sender and reject old ones. */
import { createHmac } from 'node:crypto';

/** Returns `t=<Unix s>,v1=<hex HMAC-SHA256 of "<t>.<body>">`. */
export function signatureOf(secret: string, body: string, seconds: number): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}
