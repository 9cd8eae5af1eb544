/** What a route says of the large members of its bodies, and what it gets of them. */
import type { IncomingBlob, Receiving } from '../../../application/files/encrypted-blobs.js';

/** Large base64 members of a JSON body: empty texts in it, they are found in `Request.received`. */
export interface Uploads {
  /** By name: how many bytes each may have, decoded; more, or what is no base64, is 400. */
  readonly members: { readonly [name: string]: number };
  /** Where each goes. */
  receive(): Promise<Receiving>;
}

/** What has come in, by the names of its members. */
export type ReceivedMembers = ReadonlyMap<string, IncomingBlob>;
