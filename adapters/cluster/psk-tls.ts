/**
 * How two nodes prove to each other that they are of one installation: TLS with a key that both derive (RFC 5489,
 * 7905). Neither tells it the other, who lacks it comes no further than the handshake, and nothing of it can be
 * replayed. The keys of each connection are made for it: who gets hold of ours later can't read what was recorded.
 */
import type { ConnectionOptions, TlsOptions } from 'node:tls';

/** In Node, given keys are of TLS 1.2. */
const TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;

const IDENTITY = 'node';

export const secured = (key: Buffer): { readonly client: ConnectionOptions; readonly server: TlsOptions } => ({
  client: {
    ...TLS,
    pskCallback: () => ({ psk: key, identity: IDENTITY }),
    // Who has the key needs no certificate.
    checkServerIdentity: () => undefined,
  },
  server: { ...TLS, pskCallback: () => key },
});
