/** Signs what is sent, so that its receiver knows the sender and the time (a replay is too old). */
import { createHmac } from 'node:crypto';

/** `t=<Unix s>,v1=<hex HMAC-SHA256 of "<t>.<body>">`. */
export function signatureOf(secret: string, body: string, seconds: number): string {
  const digest = createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
  return `t=${seconds},v1=${digest}`;
}
