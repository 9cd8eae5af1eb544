/**
 * Mutual authentication of two nodes: TLS with a pre-shared key that both derive (RFC 5489, 7905).
 * The key is never sent, a peer without it fails the handshake, and nothing can be replayed. Session keys are
 * ephemeral, so a key that leaks later does not decrypt recorded traffic.
 */
import type { ConnectionOptions, TlsOptions } from 'node:tls';

/** Node supports pre-shared keys only in TLS 1.2. */
const TLS = {
  ciphers: 'ECDHE-PSK-CHACHA20-POLY1305',
  minVersion: 'TLSv1.2',
  maxVersion: 'TLSv1.2',
} as const;

const IDENTITY = 'node';

export const pskTls = (key: Buffer): { readonly client: ConnectionOptions; readonly server: TlsOptions } => ({
  client: {
    ...TLS,
    pskCallback: () => ({ psk: key, identity: IDENTITY }),
    // The key authenticates the peer; there is no certificate.
    checkServerIdentity: () => undefined,
  },
  server: { ...TLS, pskCallback: () => key },
});
